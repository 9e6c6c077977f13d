-- Tool calls, each once, although a recorder and a transcript may both state one.
-- The more informative outcome counts, and the recorder's clock before the transcript's.
select
  host_id, trace_id, session_id, program as agent, call_number, called_seq as seq, stated_id as call_id,
  called_tool as tool, thread as subagent_of, called_day as day, called_ms as started_ms,
  case weight
    when 6 then 'declined'
    when 5 then 'timedOut'
    when 4 then 'failed'
    when 3 then 'failed'
    when 2 then 'interrupted'
    when 1 then 'ok'
    else 'unanswered'
  end as outcome,
  case when weight = 4 then failed_code end as exit_code,
  coalesce(
    stated_ms,
    case when runtime_end >= runtime_start then runtime_end - runtime_start when runtime_end < runtime_start then 0 end,
    case when transcript_end >= transcript_start then transcript_end - transcript_start when transcript_end < transcript_start then 0 end,
    case when transcript_end >= runtime_start then transcript_end - runtime_start when transcript_end < runtime_start then 0 end,
    case when runtime_end >= transcript_start then runtime_end - transcript_start when runtime_end < transcript_start then 0 end
  ) as duration_ms,
  case when weight in (3, 4, 5) then first_failed_seq end as failed_seq
from (
  select
    host_id, trace_id, session_id, call_number,
    max(agent) as program,
    max(call_id) as stated_id,
    coalesce(max(case when is_call then tool end), max(tool)) as called_tool,
    max(subagent_of) as thread,
    max(case when is_call then 1 else 0 end) as has_call,
    min(case when is_call then seq end) as called_seq,
    min(day) as called_day,
    coalesce(
      min(case when is_call and source = 'runtime' then ts_ms end),
      min(case when is_call then ts_ms end)
    ) as called_ms,
    max(case status
      when 'declined' then 6
      when 'timedOut' then 5
      when 'failed' then case when error_kind = 'tool' then 3 else 4 end
      when 'interrupted' then 2
      when 'ok' then 1
      else 0
    end) as weight,
    max(case when status = 'failed' then exit_code end) as failed_code,
    coalesce(max(case when source = 'runtime' then dur_ms end), max(dur_ms)) as stated_ms,
    min(case when status in ('failed', 'timedOut') then seq end) as first_failed_seq,
    min(case when is_call and source = 'runtime' then ts_ms end) as runtime_start,
    min(case when is_call and source <> 'runtime' then ts_ms end) as transcript_start,
    min(case when status <> 'timedOut' and source = 'runtime' then ts_ms end) as runtime_end,
    min(case when status <> 'timedOut' and source <> 'runtime' then ts_ms end) as transcript_end
  from events
  where call_number is not null
  group by host_id, trace_id, session_id, call_number
) stated
where has_call = 1
