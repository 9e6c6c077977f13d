select one.kind, coalesce(one.tool, one.error_kind, '') as what, one.outcome, one.exit_code,
  count(*) as failures, count(distinct concat(one.host_id, one.trace_id)) as sessions
from failures one
group by one.kind, coalesce(one.tool, one.error_kind, ''), one.outcome, one.exit_code
order by failures desc, kind, what, coalesce(one.outcome, ''), coalesce(one.exit_code, 0)
limit 50
