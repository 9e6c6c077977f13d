-- The newest revision of each segment. A segment counts once its row of totals is stored.
select host_id, trace_id, first_seq as segment, max(revision) as revision
from session_rows
group by host_id, trace_id, first_seq
