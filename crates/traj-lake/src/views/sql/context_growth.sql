-- How many tokens each call of a model read, and how many more than the call before it.
select
  host_id, trace_id, session_id, agent, thread, call_in_thread, seq, day, ts_ms, provider, model,
  input_tokens, cache_read_tokens,
  input_tokens - before as added_tokens
from (
  select
    host_id, trace_id, session_id, agent, coalesce(subagent_of, '') as thread, seq, day, ts_ms,
    provider, model, input_tokens, cache_read_tokens,
    row_number() over (
      partition by host_id, trace_id, coalesce(subagent_of, '') order by seq
    ) as call_in_thread,
    max(input_tokens) over (
      partition by host_id, trace_id, coalesce(subagent_of, '') order by seq
      rows between 1 preceding and 1 preceding
    ) as before
  from model_calls
) ordered
