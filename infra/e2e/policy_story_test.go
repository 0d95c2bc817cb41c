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
	"devplatform/infra/local/runtime"
)

// story has every function do everything that it does.
func (w *watched) story() {
	w.t.Helper()
	ada, grace := newClient(w.t, w.url), newClient(w.t, w.url)
	ada.signUp("ada")
	grace.signUp("grace")
	w.accounts(ada)
	workspace, project := w.projects(ada, grace)
	w.webhooks(ada, workspace, project)
	w.assistant(ada, project)
	ada.do("DELETE", "/api/projects/"+project, "").want(w.t, http.StatusOK)
	w.poison()
	eventually(w.t, "the clean-up of a project, and of records that can't be read", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		cleanup := w.used["ProjectCleanupFunction"]
		return cleanup["dynamodb:BatchWriteItem ContentsTable"] && cleanup["dynamodb:BatchWriteItem ConversationsTable"] && cleanup["sqs:SendMessage CleanupFailuresQueue"] &&
			w.used["WebhookFanoutFunction"]["sqs:SendMessage FanoutFailuresQueue"] && w.used["WebhookDeliveryFunction"]["sqs:SendMessage DeliveryFailuresQueue"]
	})
}

func (w *watched) accounts(ada *client) {
	w.t.Helper()
	other := newClient(w.t, w.url)
	other.login("ada").want(w.t, http.StatusOK)
	sessions := ada.do("GET", "/api/auth/sessions", "").list(w.t, "sessions")
	for _, session := range sessions {
		if session["current"] != true {
			ada.do("DELETE", fmt.Sprint("/api/auth/sessions/", session["id"]), "").want(w.t, http.StatusOK)
		}
	}
	ada.do("PUT", "/api/auth/password", `{"currentPassword":"correct horse battery","newPassword":"correct horse battery 2"}`).want(w.t, http.StatusOK)
	ada.do("GET", "/api/auth/me", "").want(w.t, http.StatusOK)
	ada.do("POST", "/api/auth/codehost/link", "").want(w.t, http.StatusOK)
	start := ada.do("GET", "/api/auth/codehost", "")
	if start.status != http.StatusFound {
		w.t.Fatalf("the sign-in did not start: %d %s", start.status, start.body)
	}
	ada.do("GET", "/api/auth/codehost/callback?code=x&state=y", "")
	other.login("ada") // the old password
	leaving := newClient(w.t, w.url)
	leaving.do("POST", "/api/auth/login", `{"email":"ada@example.com","password":"correct horse battery 2"}`).want(w.t, http.StatusOK)
	leaving.do("POST", "/api/auth/logout", "").want(w.t, http.StatusOK)
}

func (w *watched) projects(ada, grace *client) (workspace, project string) {
	w.t.Helper()
	workspace, _ = ada.do("POST", "/api/workspaces", `{"name":"Team"}`).want(w.t, http.StatusCreated)["id"].(string)
	members := "/api/workspaces/" + workspace + "/members"
	graceID, _ := ada.do("POST", members, `{"username":"grace","role":"viewer"}`).want(w.t, http.StatusCreated)["userId"].(string)
	ada.do("PUT", members+"/"+graceID, `{"role":"member"}`).want(w.t, http.StatusOK)
	ada.do("GET", members, "").want(w.t, http.StatusOK)
	ada.do("DELETE", members+"/"+graceID, "").want(w.t, http.StatusOK)
	project = ada.newProject("Hooked", object{"workspaceId": workspace, "visibility": "public"})
	at := "/api/projects/" + project
	ada.do("PUT", at, `{"name":"Renamed"}`).want(w.t, http.StatusOK)
	ada.save(project, "/a.txt", "one").want(w.t, http.StatusCreated)
	ada.save(project, "/a.txt", "two").want(w.t, http.StatusOK)
	ada.do("POST", at+"/files/batch", `{"operations":[{"op":"rename","path":"/a.txt","to":"/b.txt"},{"op":"create","path":"/c/d.txt","content":"x"}]}`).want(w.t, http.StatusOK)
	ada.do("DELETE", at+"/files?path=/c/d.txt", "").want(w.t, http.StatusOK)
	comment := ada.do("POST", at+"/comments", `{"body":"Nice."}`).want(w.t, http.StatusCreated)["id"]
	for _, path := range []string{"/api/projects", at, at + "/files", at + "/files?path=/b.txt", at + "/files?include=content", at + "/files/history?path=/b.txt", at + "/events", at + "/comments"} {
		ada.do("GET", path, "").want(w.t, http.StatusOK)
	}
	ada.do("DELETE", fmt.Sprint(at, "/comments/", comment), "").want(w.t, http.StatusOK)
	grace.do("GET", at, "").want(w.t, http.StatusOK)
	return workspace, project
}

func (w *watched) webhooks(ada *client, workspace, project string) {
	w.t.Helper()
	r := hooktest.New(w.t)
	for _, path := range []string{"/ok", "/fail?n=1", "/gone", "/retry-after?s=600"} {
		fields := object{"workspaceId": workspace}
		if path == "/ok" {
			fields["projectId"] = project
		}
		ada.subscribe(r.URL(path), fields)
	}
	hook := ada.subscribe(r.URL("/ok/kept"), object{"workspaceId": workspace})
	at := "/api/webhooks/" + hook
	ada.save(project, "/hooked.txt", "x").want(w.t, http.StatusCreated)
	received(w.t, r, "/fail", 2)
	ada.do("GET", "/api/webhooks", "").want(w.t, http.StatusOK)
	ada.do("PUT", at, `{"description":"changed"}`).want(w.t, http.StatusOK)
	ada.do("POST", at+"/test", "").want(w.t, http.StatusOK)
	deliveries := ada.do("GET", at+"/deliveries", "").list(w.t, "deliveries")
	ada.do("GET", fmt.Sprint(at, "/deliveries/", deliveries[0]["id"]), "").want(w.t, http.StatusOK)
	ada.do("POST", fmt.Sprint(at, "/deliveries/", deliveries[0]["id"], "/redeliver"), "").want(w.t, http.StatusAccepted)
	ada.do("POST", at+"/recover", `{"since":"2026-01-01T00:00:00Z"}`).want(w.t, http.StatusAccepted)
	w.fallDue()
	w.run("WebhookRetryFunction", "{}")
	ada.do("DELETE", at, "").want(w.t, http.StatusOK)
}

// fallDue has what waits for its next attempt be due now.
func (w *watched) fallDue() {
	w.t.Helper()
	var table string
	for _, t := range w.stack.Tables {
		if t.LogicalID == "WebhooksTable" {
			table = t.Name
		}
	}
	client := (&platform{aws: w.services}).dynamodb()
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
		w.t.Error("no delivery waits")
	}
}

// assistant has every kind of answer made and applied, until a note is made of old turns.
func (w *watched) assistant(ada *client, project string) {
	w.t.Helper()
	ada.save(project, "/old.txt", "old").want(w.t, http.StatusCreated)
	ask := object{"projectId": project, "message": "Change all.", "context": object{"currentFile": "/b.txt"}, "apply": true}.String()
	if first := ada.do("POST", "/api/ai/chat", ask).want(w.t, http.StatusOK); first["applied"] != true {
		w.t.Errorf("%v", first)
	}
	for range 9 {
		ada.do("POST", "/api/ai/chat", object{"projectId": project, "message": "And now?"}.String()).want(w.t, http.StatusOK)
	}
	answer := ada.do("POST", "/api/ai/chat/stream", object{"projectId": project, "message": "And now?"}.String())
	_, id, _ := strings.Cut(string(answer.body), `"messageId":"`)
	id, _, _ = strings.Cut(id, `"`)
	ada.do("POST", "/api/ai/messages/"+id+"/cancel", "").want(w.t, http.StatusAccepted)
	ada.do("POST", "/api/ai/generate", `{"prompt":"A button."}`).want(w.t, http.StatusOK)
	ada.do("GET", "/api/ai/usage", "").want(w.t, http.StatusOK)
	ada.do("GET", "/api/ai/conversations/"+project, "").want(w.t, http.StatusOK)
	ada.do("DELETE", "/api/ai/conversations/"+project, "").want(w.t, http.StatusOK)
	// A file changes while the model is at work: nothing is applied, and the answer says so. It is left for the clean-up.
	ada.save(project, "/b.txt", "another").want(w.t, http.StatusOK)
	w.meanwhile = func() {
		ada.save(project, "/b.txt", fmt.Sprint("changed meanwhile ", time.Now())).want(w.t, http.StatusOK)
	}
	if last := ada.do("POST", "/api/ai/chat", ask).want(w.t, http.StatusOK); last["applied"] != false {
		w.t.Errorf("%v", last)
	}
}

// bedrock answers like a model that takes more than a second, and, asked to change all, creates, updates and deletes a file.
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
		case <-time.After(1500 * time.Millisecond): // the cancel flag is looked at meanwhile
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

// run invokes a function.
func (w *watched) run(function, payload string) {
	w.t.Helper()
	response, err := w.invoke(w.t.Context(), runtime.Invocation{Function: function, Payload: []byte(payload)})
	must(w.t, err)
	must(w.t, response.Body.Close())
}

// poison hands each consumer something that it can't read.
func (w *watched) poison() {
	w.t.Helper()
	const record = `{"Records":[{"eventName":"INSERT","eventSource":"aws:dynamodb","dynamodb":{"SequenceNumber":"1","ApproximateCreationDateTime":1,"NewImage":{"pk":{"S":"x"}}}}]}`
	w.run("ProjectCleanupFunction", record)
	w.run("WebhookFanoutFunction", record)
	w.run("WebhookDeliveryFunction", `{"Records":[{"messageId":"m","receiptHandle":"r","body":"?","attributes":{"ApproximateReceiveCount":"1","SentTimestamp":"1"},"eventSource":"aws:sqs"}]}`)
}
