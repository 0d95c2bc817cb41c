package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/hooktest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/runtime"
	"devplatform/infra/platformtest"
)

// callEverything makes every function execute all of its operations.
func (w *watched) callEverything() {
	w.t.Helper()
	ada, grace := platformtest.NewClient(w.t, w.url), platformtest.NewClient(w.t, w.url)
	ada.SignUp("ada")
	grace.SignUp("grace")
	w.accounts(ada)
	workspace, project := w.projects(ada, grace)
	w.webhooks(ada, workspace, project)
	w.assistant(ada, project)
	w.callRareOperations(ada, workspace, project)
	ada.Do("DELETE", "/api/projects/"+project, "").Want(w.t, http.StatusOK)
	w.poison()
	platformtest.Eventually(w.t, "the clean-up of a project, the reports of invalid records, and a move to the slow lane", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		cleanup := w.used["ProjectCleanupFunction"]
		return cleanup["dynamodb:BatchWriteItem ContentsTable"] && cleanup["dynamodb:BatchWriteItem ConversationsTable"] && cleanup["sqs:SendMessage CleanupFailuresQueue"] &&
			w.used["WebhookFanoutFunction"]["sqs:SendMessage FanoutFailuresQueue"] && w.used["WebhookDeliveryFunction"]["sqs:SendMessage DeliveryFailuresQueue"] &&
			w.used["WebhookSlowDeliveryFunction"]["sqs:SendMessage DeliveryFailuresQueue"] && w.used["WebhookDeliveryFunction"]["sqs:SendMessage SlowDeliveriesQueue"]
	})
}

func (w *watched) accounts(ada *platformtest.Client) {
	w.t.Helper()
	other := platformtest.NewClient(w.t, w.url)
	other.Login("ada").Want(w.t, http.StatusOK)
	sessions := ada.Do("GET", "/api/auth/sessions", "").List(w.t, "sessions")
	for _, session := range sessions {
		if session["current"] != true {
			ada.Do("DELETE", fmt.Sprint("/api/auth/sessions/", session["id"]), "").Want(w.t, http.StatusOK)
		}
	}
	ada.Do("PUT", "/api/auth/password", `{"currentPassword":"correct horse battery","newPassword":"correct horse battery 2"}`).Want(w.t, http.StatusOK)
	ada.Do("GET", "/api/auth/me", "").Want(w.t, http.StatusOK)
	ada.Do("POST", "/api/auth/codehost/link", "").Want(w.t, http.StatusOK)
	start := ada.Do("GET", "/api/auth/codehost", "")
	if start.Status != http.StatusFound {
		w.t.Fatalf("start of a sign-in: got status %d with body %s, want 302", start.Status, start.Body)
	}
	ada.Do("GET", "/api/auth/codehost/callback?code=x&state=y", "")
	other.Login("ada") // the old password
	leaving := platformtest.NewClient(w.t, w.url)
	leaving.Do("POST", "/api/auth/login", `{"email":"ada@example.com","password":"correct horse battery 2"}`).Want(w.t, http.StatusOK)
	leaving.Do("POST", "/api/auth/logout", "").Want(w.t, http.StatusOK)
}

func (w *watched) projects(ada, grace *platformtest.Client) (workspace, project string) {
	w.t.Helper()
	workspace, _ = ada.Do("POST", "/api/workspaces", `{"name":"Team"}`).Want(w.t, http.StatusCreated)["id"].(string)
	members := "/api/workspaces/" + workspace + "/members"
	graceID, _ := ada.Do("POST", members, `{"username":"grace","role":"viewer"}`).Want(w.t, http.StatusCreated)["userId"].(string)
	ada.Do("PUT", members+"/"+graceID, `{"role":"member"}`).Want(w.t, http.StatusOK)
	ada.Do("GET", members, "").Want(w.t, http.StatusOK)
	ada.Do("DELETE", members+"/"+graceID, "").Want(w.t, http.StatusOK)
	project = ada.NewProject("Hooked", platformtest.Object{"workspaceId": workspace, "visibility": "public"})
	at := "/api/projects/" + project
	ada.Do("PUT", at, `{"name":"Renamed"}`).Want(w.t, http.StatusOK)
	ada.Save(project, "/a.txt", "one").Want(w.t, http.StatusCreated)
	ada.Save(project, "/a.txt", "two").Want(w.t, http.StatusOK)
	ada.Do("POST", at+"/files/batch", `{"operations":[{"op":"rename","path":"/a.txt","to":"/b.txt"},{"op":"create","path":"/c/d.txt","content":"x"}]}`).Want(w.t, http.StatusOK)
	ada.Do("DELETE", at+"/files?path=/c/d.txt", "").Want(w.t, http.StatusOK)
	comment := ada.Do("POST", at+"/comments", `{"body":"Nice."}`).Want(w.t, http.StatusCreated)["id"]
	for _, path := range []string{"/api/projects", at, at + "/files", at + "/files?path=/b.txt", at + "/files?include=content", at + "/files/history?path=/b.txt", at + "/events", at + "/comments"} {
		ada.Do("GET", path, "").Want(w.t, http.StatusOK)
	}
	ada.Do("DELETE", fmt.Sprint(at, "/comments/", comment), "").Want(w.t, http.StatusOK)
	grace.Do("GET", at, "").Want(w.t, http.StatusOK)
	return workspace, project
}

func (w *watched) webhooks(ada *platformtest.Client, workspace, project string) {
	w.t.Helper()
	r := hooktest.New(w.t)
	hooks := map[string]string{} // by path
	for _, path := range []string{"/ok", "/fail?n=1", "/gone", "/retry-after?s=600"} {
		fields := platformtest.Object{"workspaceId": workspace}
		if path == "/ok" {
			fields["projectId"] = project
		}
		hooks[path] = ada.Subscribe(r.URL(path), fields)
	}
	w.makePrompt(hooks["/retry-after?s=600"]) // so a delivery of the fast lane waits for its next attempt
	hook := ada.Subscribe(r.URL("/ok/kept"), platformtest.Object{"workspaceId": workspace})
	at := "/api/webhooks/" + hook
	ada.Save(project, "/hooked.txt", "x").Want(w.t, http.StatusCreated)
	received(w.t, r, "/fail", 2)
	ada.Do("GET", "/api/webhooks", "").Want(w.t, http.StatusOK)
	ada.Do("PUT", at, `{"description":"changed"}`).Want(w.t, http.StatusOK)
	ada.Do("POST", at+"/test", "").Want(w.t, http.StatusOK)
	deliveries := ada.Do("GET", at+"/deliveries", "").List(w.t, "deliveries")
	ada.Do("GET", fmt.Sprint(at, "/deliveries/", deliveries[0]["id"]), "").Want(w.t, http.StatusOK)
	w.redeliver(ada, at)
	w.redeliver(ada, "/api/webhooks/"+hooks["/gone"]) // the fast lane moves it to the slow lane
	ada.Do("POST", at+"/recover", `{"since":"2026-01-01T00:00:00Z"}`).Want(w.t, http.StatusAccepted)
	w.makeDue()
	w.run("WebhookRetryFunction", "{}")
	ada.Do("DELETE", at, "").Want(w.t, http.StatusOK)
}

// redeliver requests a redelivery of the newest delivery of a webhook.
func (w *watched) redeliver(ada *platformtest.Client, hook string) {
	w.t.Helper()
	deliveries := ada.Do("GET", hook+"/deliveries", "").List(w.t, "deliveries")
	ada.Do("POST", fmt.Sprint(hook, "/deliveries/", deliveries[0]["id"], "/redeliver"), "").Want(w.t, http.StatusAccepted)
}

// makeDue makes all deliveries and endpoints that wait for their next attempt due now.
func (w *watched) makeDue() {
	w.t.Helper()
	var table string
	for _, t := range w.stack.Tables {
		if t.LogicalID == "WebhooksTable" {
			table = t.Name
		}
	}
	client := dynamotest.Client(w.services)
	pages, err := client.Scan(w.t.Context(), &dynamodb.ScanInput{TableName: &table, IndexName: aws.String("due")})
	must(w.t, err)
	for _, item := range pages.Items {
		_, err := client.UpdateItem(w.t.Context(), &dynamodb.UpdateItemInput{
			TableName: &table, Key: map[string]types.AttributeValue{"pk": item["pk"], "sk": item["sk"]},
			UpdateExpression: aws.String("SET dueAt = :now"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":now": &types.AttributeValueMemberS{Value: time.Now().UTC().Format("2006-01-02T15:04:05.000Z")},
			},
		})
		must(w.t, err)
	}
	if len(pages.Items) == 0 {
		w.t.Error("no delivery waits for its next attempt")
	}
}

// assistant calls all operations of the assistant, and enough of them that old messages are summarized.
func (w *watched) assistant(ada *platformtest.Client, project string) {
	w.t.Helper()
	ada.Save(project, "/old.txt", "old").Want(w.t, http.StatusCreated)
	ask := platformtest.Object{"projectId": project, "message": "Change all.", "context": platformtest.Object{"currentFile": "/b.txt"}, "apply": true}.String()
	if first := ada.Do("POST", "/api/ai/chat", ask).Want(w.t, http.StatusOK); first["applied"] != true {
		w.t.Errorf("got answer %v, want an applied one", first)
	}
	for range 9 {
		ada.Do("POST", "/api/ai/chat", platformtest.Object{"projectId": project, "message": "And now?"}.String()).Want(w.t, http.StatusOK)
	}
	answer := ada.Do("POST", "/api/ai/chat/stream", platformtest.Object{"projectId": project, "message": "And now?"}.String())
	_, id, _ := strings.Cut(string(answer.Body), `"messageId":"`)
	id, _, _ = strings.Cut(id, `"`)
	ada.Do("POST", "/api/ai/messages/"+id+"/cancel", "").Want(w.t, http.StatusAccepted)
	ada.Do("POST", "/api/ai/generate", `{"prompt":"A button."}`).Want(w.t, http.StatusOK)
	ada.Do("GET", "/api/ai/usage", "").Want(w.t, http.StatusOK)
	ada.Do("GET", "/api/ai/conversations/"+project, "").Want(w.t, http.StatusOK)
	ada.Do("DELETE", "/api/ai/conversations/"+project, "").Want(w.t, http.StatusOK)
	// A file changes while the model writes its answer, so the answer is not applied.
	ada.Save(project, "/b.txt", "another").Want(w.t, http.StatusOK)
	w.meanwhile = func() {
		ada.Save(project, "/b.txt", fmt.Sprint("changed meanwhile ", time.Now())).Want(w.t, http.StatusOK)
	}
	if last := ada.Do("POST", "/api/ai/chat", ask).Want(w.t, http.StatusOK); last["applied"] != false {
		w.t.Errorf("got answer %v, want one that is not applied", last)
	}
}

// bedrock is a fake of Bedrock. If the message is "Change all.", it takes more than a second, and then creates, updates
// and deletes a file.
func (w *watched) bedrock(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if strings.HasSuffix(r.URL.Path, "/converse") {
		rw.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(rw, `{"output":{"message":{"role":"assistant","content":[{"text":"They asked what now."}]}},"stopReason":"end_turn","usage":{"inputTokens":10,"outputTokens":5,"totalTokens":15},"metrics":{"latencyMs":1}}`)
		return
	}
	encoder := eventstream.NewEncoder()
	send := func(kind, payload string) {
		message := eventstream.Message{Payload: []byte(payload)}
		for name, value := range map[string]string{":message-type": "event", ":event-type": kind, ":content-type": "application/json"} {
			message.Headers.Set(name, eventstream.StringValue(value))
		}
		_ = encoder.Encode(rw, message)
	}
	rw.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	send("messageStart", `{"role":"assistant"}`)
	send("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"Well."}}`)
	if bytes.Contains(body, []byte("Change all.")) && !bytes.Contains(body, []byte("And now?")) {
		_ = http.NewResponseController(rw).Flush()
		if w.meanwhile != nil {
			w.meanwhile()
		}
		select {
		case <-time.After(1500 * time.Millisecond): // the function checks for cancellation in this time
		case <-r.Context().Done():
		}
		for i, call := range []string{
			`create_file {"path":"/new.txt","content":"new"}`, `update_file {"path":"/b.txt","content":"other"}`, `delete_file {"path":"/old.txt"}`,
		} {
			name, input, _ := strings.Cut(call, " ")
			send("contentBlockStart", fmt.Sprintf(`{"contentBlockIndex":%d,"start":{"toolUse":{"toolUseId":"t%d","name":%q}}}`, i+1, i, name))
			send("contentBlockDelta", fmt.Sprintf(`{"contentBlockIndex":%d,"delta":{"toolUse":{"input":%q}}}`, i+1, input))
			send("contentBlockStop", fmt.Sprintf(`{"contentBlockIndex":%d}`, i+1))
		}
	}
	send("messageStop", `{"stopReason":"end_turn"}`)
	send("metadata", `{"usage":{"inputTokens":100,"outputTokens":10,"totalTokens":110},"metrics":{"latencyMs":1}}`)
}

// run invokes a function with a payload.
func (w *watched) run(function, payload string) {
	w.t.Helper()
	response, err := w.invoke(w.t.Context(), runtime.Invocation{Function: function, Payload: []byte(payload)})
	must(w.t, err)
	must(w.t, response.Body.Close())
}

// poison invokes each consumer with a record or message that is not valid.
func (w *watched) poison() {
	w.t.Helper()
	const record = `{"Records":[{"eventName":"INSERT","eventSource":"aws:dynamodb","dynamodb":{"SequenceNumber":"1","ApproximateCreationDateTime":1,"NewImage":{"pk":{"S":"x"}}}}]}`
	w.run("ProjectCleanupFunction", record)
	w.run("WebhookFanoutFunction", record)
	const message = `{"Records":[{"messageId":"m","receiptHandle":"r","body":"?","attributes":{"ApproximateReceiveCount":"1","SentTimestamp":"1"},"eventSource":"aws:sqs"}]}`
	w.run("WebhookDeliveryFunction", message)
	w.run("WebhookSlowDeliveryFunction", message)
}
