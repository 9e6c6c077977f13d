select one.day, one.model, one.currency, sum(one.model_calls) as calls,
  sum(one.input_tokens) as input_tokens, sum(one.output_tokens) as output_tokens,
  sum(one.cost) as cost, sum(one.calls_without_price) as calls_without_price
from cost_by_model_day one
group by one.day, one.model, one.currency
order by day desc, coalesce(sum(one.cost), -1) desc, model, currency
