create or replace view event_rows as
select
  *,
  toDate(ts, 'UTC') as day,
  toUnixTimestamp64Milli(cast(ts as Nullable(DateTime64(3, 'UTC')))) as ts_ms,
  intDiv(dur_us, 1000) as dur_ms
from {events};

create or replace view session_rows as
select
  *,
  toUnixTimestamp64Milli(cast(started_at as Nullable(DateTime64(3, 'UTC')))) as started_ms,
  toUnixTimestamp64Milli(cast(ended_at as Nullable(DateTime64(3, 'UTC')))) as ended_ms,
  toUnixTimestamp64Milli(cast(first_failure_at as Nullable(DateTime64(3, 'UTC'))))
    as first_failure_ms,
  intDiv(calls_dur_us, 1000) as calls_ms
from {sessions};
