-- Tools by the time of their calls. A percentile is the time of a call that was made.
select
  tool,
  max(made) as calls,
  max(failed) as failed_calls,
  max(timed) as timed_calls,
  sum(duration_ms) as total_ms,
  min(case when 2 * place >= timed then duration_ms end) as median_ms,
  min(case when 20 * place >= 19 * timed then duration_ms end) as p95_ms,
  max(duration_ms) as longest_ms
from (
  select
    tool, duration_ms,
    count(*) over (partition by tool) as made,
    sum(case when outcome in ('failed', 'timedOut') then 1 else 0 end)
      over (partition by tool) as failed,
    count(duration_ms) over (partition by tool) as timed,
    row_number() over (
      partition by tool order by case when duration_ms is null then 1 else 0 end, duration_ms
    ) as place
  from calls
) placed
group by tool
