//! Tests that every queue of a client has a limit, whatever the server and the host do.

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn narrow() -> ClientOptions {
    let mut options = options();
    options.in_flight = 4;
    options.waiting_calls = 4;
    options.unsent_bytes = 128 * 1024;
    options
}

async fn long_call(client: Client) -> Result<Json<'static>, AppServerError> {
    client.call("thread/read", Json::from("x".repeat(32 * 1024)), SECOND).await
}

/// Lets `calls` calls time out, four at a time, on a server that reads nothing.
async fn time_out(client: &Client, calls: usize) {
    for _ in 0..calls / 4 {
        let wave: Vec<_> = (0..4).map(|_| tokio::spawn(long_call(client.clone()))).collect();
        for call in wave {
            let error = call.await.unwrap().unwrap_err();
            assert!(matches!(error, AppServerError::TimedOut { .. }), "{error}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn calls_that_the_server_does_not_read_are_not_kept() {
    let (client, mut peer) = connected_with(narrow()).await;
    time_out(&client, 200).await;
    let reading = async {
        let mut stale = 0;
        loop {
            let line = peer.read().await;
            if line.get("method").and_then(Json::as_str) == Some("thread/unsubscribe") {
                let id = line.get("id").and_then(Json::as_u64).unwrap();
                peer.write(&format!(r#"{{"id":{id},"result":{{}}}}"#)).await;
                return stale;
            }
            stale += 1;
        }
    };
    let target = thread("t");
    let (released, stale) = tokio::join!(client.release_thread(&target), reading);
    released.unwrap();
    assert!((4..=16).contains(&stale), "{stale} of 200 calls were kept to be written");
}

#[tokio::test(start_paused = true)]
async fn a_client_stops_although_the_server_does_not_read() {
    let (client, _peer) = connected_with(narrow()).await;
    time_out(&client, 40).await;
    let waiting: Vec<_> = (0..40).map(|_| tokio::spawn(long_call(client.clone()))).collect();
    tokio::task::yield_now().await;
    let began = Instant::now();
    client.stop().await;
    for call in waiting {
        let error = call.await.unwrap().unwrap_err();
        assert!(matches!(error, AppServerError::Closed { cause: CloseCause::ByUs }), "{error}");
    }
    assert_eq!(began.elapsed(), Duration::ZERO, "nobody waited for a timeout");
}

#[tokio::test]
async fn callers_wait_outside_while_too_many_calls_are_open() {
    let (client, mut peer) = connected_with(narrow()).await;
    let short = |client: Client| async move { client.call("m", Json::Null, SECOND * 60).await };
    let calls: Vec<_> = (0..1_000).map(|_| tokio::spawn(short(client.clone()))).collect();
    for _ in 0..calls.len() {
        tokio::task::yield_now().await;
        let queued = client.inner.commands.max_capacity() - client.inner.commands.capacity();
        assert!(queued <= 9, "{queued} commands are queued");
    }
    assert_eq!(client.inner.signals.admission.available_permits(), 0);
    for _ in 0..calls.len() {
        let id = peer.read().await.get("id").and_then(Json::as_u64).unwrap();
        peer.write(&format!(r#"{{"id":{id},"result":{id}}}"#)).await;
    }
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!(client.inner.signals.admission.available_permits(), 8);
}

/// A dropped caller makes room for the next one.
#[tokio::test]
async fn an_abandoned_call_makes_room() {
    let (client, mut peer) = connected_with(narrow()).await;
    let calls: Vec<_> = (0..8).map(|_| tokio::spawn(long_call(client.clone()))).collect();
    peer.read().await;
    assert_eq!(client.inner.signals.admission.available_permits(), 0);
    for call in calls {
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
    }
    let admission = Arc::clone(&client.inner.signals.admission);
    drop(admission.acquire_many(8).await.unwrap());
}

#[tokio::test]
async fn a_server_that_asks_and_reads_no_answer_is_given_up() {
    let mut options = narrow();
    options.open_questions = 2;
    let (client, mut peer) = connected_with(options).await;
    let question = r#"{"id":"q","method":"item/tool/requestUserInput","params":{"threadId":"t"}}"#;
    let line = format!("{question}\n");
    let asking = async {
        for _ in 0..50_000 {
            if peer.writer.write_all(line.as_bytes()).await.is_err() {
                return;
            }
        }
    };
    asking.await;
    assert_eq!(client.closed(), Some(CloseCause::BrokenPipe));
}
