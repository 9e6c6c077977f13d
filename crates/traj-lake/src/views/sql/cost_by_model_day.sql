-- Tokens and cost of each model and UTC day. Calls without a known price are counted.
select
  day, agent, provider, model, coalesce(one.currency, '') as currency,
  count(*) as model_calls,
  sum(one.input_tokens) as input_tokens,
  sum(one.output_tokens) as output_tokens,
  sum(one.cache_read_tokens) as cache_read_tokens,
  sum(one.cache_write_tokens) as cache_write_tokens,
  sum(one.reasoning_tokens) as reasoning_tokens,
  sum(one.cost) as cost,
  sum(case when one.cost is null and one.input_tokens + one.output_tokens > 0 then 1 else 0 end)
    as calls_without_price
from model_calls one
group by day, agent, provider, model, coalesce(one.currency, '')
