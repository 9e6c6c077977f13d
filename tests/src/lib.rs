//! Contract suites and builders that the tests share.
