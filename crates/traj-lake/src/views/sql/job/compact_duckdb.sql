-- Compacts the files of {day}, which must be over.
--
-- It writes large files beside the small ones. An event that is in both counts
-- once, so the views are right at every moment, also if this job is stopped and
-- run again. Run it with `duckdb -bail`.
{views}
-- 1. Write beside: sorted by session and position, one directory for each agent.
copy (
  select {event_columns}
  from events
  where date = '{day}'
  order by host_id, trace_id, seq
) to '{root}/traj/v1/events/date={day}' (
  format parquet, compression zstd, partition_by (agent), write_partition_columns true,
  overwrite_or_ignore true, filename_pattern 'compact-{day}-{i}', row_group_size 65536
);

copy (
  select {session_columns}
  from (
    select session_rows.*, row_number() over (
      partition by session_rows.host_id, session_rows.trace_id, session_rows.first_seq
      order by session_rows.last_seq desc
    ) as place
    from session_rows
    join segments
      on segments.host_id = session_rows.host_id
      and segments.trace_id = session_rows.trace_id
      and segments.segment = session_rows.first_seq
      and segments.revision = session_rows.revision
    where date = '{day}'
  ) newest
  where place = 1
  order by host_id, trace_id, first_seq
) to '{root}/traj/v1/sessions/date={day}' (
  format parquet, compression zstd, partition_by (agent), write_partition_columns true,
  overwrite_or_ignore true, filename_pattern 'compact-{day}-{i}'
);

-- 2. Compare: the large files hold every event of the day, each once.
select case when kept.n = written.n and kept.n = written.positions then 'complete'
  else error('the compacted files of {day} do not hold every event once: delete them') end
  as compacted, written.n as events
from
  (select count(*) as n from events where date = '{day}') kept,
  (
    select count(*) as n, count(distinct (host_id, trace_id, seq)) as positions
    from read_parquet('{root}/traj/v1/events/date={day}/*/compact-{day}-*.parquet')
  ) written;

-- 3. Delete these files after a grace period that is longer than any query.
select file as delete_after_grace
from (
  select file from glob('{root}/traj/v1/events/date={day}/*/*.parquet')
  union all
  select file from glob('{root}/traj/v1/sessions/date={day}/*/*.parquet')
) files
where not contains(file, '/compact-{day}-')
order by file;
