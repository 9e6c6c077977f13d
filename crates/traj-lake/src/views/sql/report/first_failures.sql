select one.first_failure_tool as tool, one.first_failure_outcome as outcome,
  one.first_failure_exit_code as exit_code, count(*) as sessions,
  sum(case when one.status = 'success' then 1 else 0 end) as ended_well
from first_failures one
group by one.first_failure_tool, one.first_failure_outcome, one.first_failure_exit_code
order by sessions desc, coalesce(one.first_failure_tool, ''),
  coalesce(one.first_failure_outcome, ''), coalesce(one.first_failure_exit_code, 0)
limit 50
