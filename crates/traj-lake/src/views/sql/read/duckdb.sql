create or replace view event_rows as
select
  *,
  cast(date '1970-01-01' + cast(epoch_us(ts) // 86400000000 as integer) as date) as day,
  epoch_us(ts) // 1000 as ts_ms,
  dur_us // 1000 as dur_ms
from read_parquet(
  '{root}/traj/v1/events/*/*/*.parquet',
  hive_partitioning = true, hive_types_autocast = false, union_by_name = true
);

create or replace view session_rows as
select
  *,
  epoch_us(started_at) // 1000 as started_ms,
  epoch_us(ended_at) // 1000 as ended_ms,
  epoch_us(first_failure_at) // 1000 as first_failure_ms,
  calls_dur_us // 1000 as calls_ms
from read_parquet(
  '{root}/traj/v1/sessions/*/*/*.parquet',
  hive_partitioning = true, hive_types_autocast = false, union_by_name = true
);
