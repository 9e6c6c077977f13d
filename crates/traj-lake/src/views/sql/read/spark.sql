create or replace temporary view event_files
using parquet options (path '{root}/traj/v1/events', mergeSchema 'true');

create or replace temporary view session_files
using parquet options (path '{root}/traj/v1/sessions', mergeSchema 'true');

create or replace temporary view event_rows as
select
  *,
  date_add(date '1970-01-01', cast(floor(unix_micros(ts) / 86400000000) as int)) as day,
  unix_millis(ts) as ts_ms,
  dur_us div 1000 as dur_ms
from event_files;

create or replace temporary view session_rows as
select
  *,
  unix_millis(started_at) as started_ms,
  unix_millis(ended_at) as ended_ms,
  unix_millis(first_failure_at) as first_failure_ms,
  calls_dur_us div 1000 as calls_ms
from session_files;
