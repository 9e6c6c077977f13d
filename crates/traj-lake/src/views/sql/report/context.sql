select one.host_id, one.agent, one.session_id, max(one.call_in_thread) as calls,
  max(one.input_tokens) as largest_context, max(one.added_tokens) as largest_step,
  sum(one.cache_read_tokens) as cache_read_tokens, sum(one.input_tokens) as input_tokens
from context_growth one
where one.thread = ''
group by one.host_id, one.trace_id, one.agent, one.session_id
order by largest_context desc, session_id, host_id, agent
limit 50
