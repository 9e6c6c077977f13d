-- Events, each once: those of the newest revision of their segment. After a
-- compaction and before its inputs are gone, an event is stored twice.
select date, {event_columns}
from (
  select event_rows.*, row_number() over (
    partition by event_rows.host_id, event_rows.trace_id, event_rows.seq
    order by event_rows.segment desc
  ) as place
  from event_rows
  join segments
    on segments.host_id = event_rows.host_id
    and segments.trace_id = event_rows.trace_id
    and segments.segment = event_rows.segment
    and segments.revision = event_rows.revision
) copies
where place = 1
