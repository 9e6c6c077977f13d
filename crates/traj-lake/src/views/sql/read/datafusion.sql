create external table event_files stored as parquet
partitioned by (date) location '{root}/traj/v1/events/';

create external table session_files stored as parquet
partitioned by (date) location '{root}/traj/v1/sessions/';

create or replace view event_rows as
select
  *,
  cast(ts as date) as day,
  cast(ts as bigint) / 1000 as ts_ms,
  dur_us / 1000 as dur_ms
from event_files;

create or replace view session_rows as
select
  *,
  cast(started_at as bigint) / 1000 as started_ms,
  cast(ended_at as bigint) / 1000 as ended_ms,
  cast(first_failure_at as bigint) / 1000 as first_failure_ms,
  calls_dur_us / 1000 as calls_ms
from session_files;
