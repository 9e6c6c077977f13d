select tool, calls, failed_calls, total_ms, median_ms, p95_ms, longest_ms
from slow_tools
order by total_ms desc, tool
limit 50
