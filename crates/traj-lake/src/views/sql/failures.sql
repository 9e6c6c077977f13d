-- What went wrong: calls that failed or timed out, and errors outside calls, each once.
select
  host_id, trace_id, session_id, agent, failed_seq as seq, day, 'call' as kind, tool, outcome, exit_code,
  cast(null as {text}) as error_kind
from calls
where outcome in ('failed', 'timedOut')
union all
select
  host_id, trace_id, session_id, agent, seq, day, 'error' as kind, cast(null as {text}) as tool,
  cast(null as {text}) as outcome, cast(null as {bigint}) as exit_code, error_kind
from events
where new_error
