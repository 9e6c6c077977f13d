-- The first failure of each session that has one. Errors that a session recovered from do not count.
select
  host_id, trace_id, session_id, agent, status, model, first_failure_seq, first_failure_ms,
  first_failure_tool, first_failure_outcome, first_failure_exit_code
from runs
where first_failure_seq is not null
