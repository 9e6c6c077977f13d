-- Calls of models. Events that repeat one that was counted already have no tokens.
select
  host_id, trace_id, session_id, agent, seq, subagent_of, day, ts_ms,
  coalesce(provider, '') as provider,
  coalesce(model, '') as model,
  input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens,
  cost, currency, cost_origin, dur_ms
from events
where input_tokens is not null
