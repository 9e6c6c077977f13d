-- Sessions with their totals. Each row of totals states the session so far, so the last one counts.
select {session_columns}
from (
  select session_rows.*, row_number() over (
    partition by session_rows.host_id, session_rows.trace_id
    order by session_rows.first_seq desc
  ) as place
  from session_rows
  join segments
    on segments.host_id = session_rows.host_id
    and segments.trace_id = session_rows.trace_id
    and segments.segment = session_rows.first_seq
    and segments.revision = session_rows.revision
  where session_rows.last_seq >= session_rows.first_seq
) newest
where place = 1
