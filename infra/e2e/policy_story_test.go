package e2e

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/hooktest"
	"devplatform/infra/local/runtime"
	"devplatform/infra/platformtest"
	"devplatform/shared/db"
)

// callEverything makes every function execute all of its operations.
func (w *watched) callEverything() {
	w.t.Helper()
	ada, grace := platformtest.NewClient(w.t, w.url), platformtest.NewClient(w.t, w.url)
	ada.SignUp("ada")
	grace.SignUp("grace")
	w.accounts(ada)
	w.addresses()
	workspace, project := w.projects(ada, grace)
	w.webhooks(ada, workspace, project)
	w.assistant(ada, project)
	w.exports(ada, project)
	w.accountExport(ada)
	w.deployments(ada)
	w.deployCheck()
	w.mails()
	w.callRareOperations(ada, workspace, project)
	ada.Do("DELETE", "/api/projects/"+project, "").Want(w.t, http.StatusOK)
	w.removal(ada)
	w.accountRemoval(grace)
	w.poison()
	w.waitFor(map[string][]permission{
		"ProjectCleanupFunction": {
			"s3:DeleteObject FilesBucket/contents/*", "s3:DeleteObject FilesBucket/sites/*", "dynamodb:BatchWriteItem ContentsTable",
			"dynamodb:BatchWriteItem ConversationsTable", "sqs:SendMessage CleanupFailuresQueue",
			"s3:DeleteObject FilesBucket/exports/prj_*",
		},
		"WebhookFanoutFunction":       {"sqs:SendMessage FanoutFailuresQueue"},
		"MailerFunction":              {"sqs:SendMessage MailerFailuresQueue"},
		"WebhookDeliveryFunction":     {"sqs:SendMessage DeliveryFailuresQueue", "sqs:SendMessage SlowDeliveriesQueue"},
		"WebhookSlowDeliveryFunction": {"sqs:SendMessage DeliveryFailuresQueue"},
	})
}

// waitFor waits until the functions have used permissions in the background.
func (w *watched) waitFor(permissions map[string][]permission) {
	w.t.Helper()
	for function, all := range permissions {
		for _, p := range all {
			platformtest.Eventually(w.t, fmt.Sprintf("%s uses %s", function, p), func() bool {
				w.mu.Lock()
				defer w.mu.Unlock()
				return w.used[function][p]
			})
		}
	}
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
	graceID := w.invitations(ada, grace, workspace)
	ada.Do("PUT", members+"/"+graceID, `{"role":"admin"}`).Want(w.t, http.StatusOK)
	grace.Subscribe("http://127.0.0.1:9/", platformtest.Object{"workspaceId": workspace}) // disabled when grace is removed
	ada.Do("GET", members, "").Want(w.t, http.StatusOK)
	ada.Do("DELETE", members+"/"+graceID, "").Want(w.t, http.StatusOK)
	project = ada.NewProject("Hooked", platformtest.Object{"workspaceId": workspace, "visibility": "public"})
	at := "/api/projects/" + project
	ada.Do("PUT", at, `{"name":"Renamed"}`).Want(w.t, http.StatusOK)
	ada.Do("PUT", at+"/variables", `{"variables":[{"name":"VITE_A","value":"one","target":"all"}]}`).Want(w.t, http.StatusOK)
	ada.Do("GET", at+"/variables", "").Want(w.t, http.StatusOK)
	ada.Save(project, "/a.txt", "one").Want(w.t, http.StatusCreated)
	ada.Save(project, "/a.txt", "two").Want(w.t, http.StatusOK)
	for _, version := range ada.Do("GET", at+"/files/history?path=/a.txt", "").List(w.t, "versions") {
		if version["current"] != true {
			ada.Do("DELETE", fmt.Sprint(at, "/files/history?path=/a.txt&version=", version["version"]), "").Want(w.t, http.StatusOK)
		}
	}
	ada.Do("POST", at+"/files/batch", `{"operations":[{"op":"rename","path":"/a.txt","to":"/b.txt"},{"op":"create","path":"/c/d.txt","content":"x"}]}`).Want(w.t, http.StatusOK)
	ada.Do("DELETE", at+"/files?path=/c/d.txt", "").Want(w.t, http.StatusOK)
	ada.Save(project, "/large.txt", large()).Want(w.t, http.StatusCreated)
	ada.Do("GET", at+"/files?path=/large.txt", "").Want(w.t, http.StatusOK)
	upload := announceUpload(ada, project, "/video.mp4", strings.Repeat("video", 1<<19))
	upload.put(ada)
	ada.Do("POST", upload.path+"/complete", "").Want(w.t, http.StatusCreated)
	video := ada.Do("GET", at+"/files?path=/video.mp4", "").Want(w.t, http.StatusOK)
	if download := ada.Do("GET", fmt.Sprint(video["url"]), ""); download.Status != http.StatusOK || len(download.Body) != 5<<19 {
		w.t.Errorf("download: got %d with %d bytes, want 200 with %d", download.Status, len(download.Body), 5<<19)
	}
	comment := ada.Do("POST", at+"/comments", `{"body":"Nice."}`).Want(w.t, http.StatusCreated)["id"]
	for _, path := range []string{"/api/projects", at, at + "/files", at + "/files?path=/b.txt", at + "/files?include=content", at + "/files/history?path=/b.txt", at + "/events", at + "/comments"} {
		ada.Do("GET", path, "").Want(w.t, http.StatusOK)
	}
	ada.Do("DELETE", fmt.Sprint(at, "/comments/", comment), "").Want(w.t, http.StatusOK)
	grace.Do("GET", at, "").Want(w.t, http.StatusOK)
	return workspace, project
}

// invitations makes grace a member of a workspace of ada, and returns the ID of grace.
func (w *watched) invitations(ada, grace *platformtest.Client, workspace string) (graceID string) {
	w.t.Helper()
	ada.Do("PUT", "/api/workspaces/"+workspace, `{"name":"Design team"}`).Want(w.t, http.StatusOK)
	invitations := "/api/workspaces/" + workspace + "/invitations"
	for _, end := range []string{"revoke", "decline"} {
		invited := ada.Do("POST", invitations, `{"username":"grace","role":"viewer"}`).Want(w.t, http.StatusCreated)["id"]
		ada.Do("GET", invitations, "").Want(w.t, http.StatusOK)
		grace.Do("GET", "/api/invitations", "").Want(w.t, http.StatusOK)
		if end == "revoke" {
			ada.Do("DELETE", fmt.Sprint(invitations, "/", invited), "").Want(w.t, http.StatusOK)
		} else {
			grace.Do("POST", fmt.Sprint("/api/invitations/", invited, "/decline"), "").Want(w.t, http.StatusOK)
		}
	}
	toAddress := `{"email":"grace@example.com","role":"viewer"}`
	link, _ := ada.Do("POST", invitations, toAddress).Want(w.t, http.StatusCreated)["url"].(string)
	_, token, _ := strings.Cut(link, "#token=")
	body := platformtest.Object{"token": token}.String()
	platformtest.NewClient(w.t, w.url).Do("POST", "/api/invitations/preview", body).Want(w.t, http.StatusOK)
	grace.Do("POST", "/api/invitations/accept", body).Want(w.t, http.StatusOK)
	grace.Do("GET", "/api/workspaces", "").Want(w.t, http.StatusOK)
	me, _ := grace.Do("GET", "/api/auth/me", "").Want(w.t, http.StatusOK)["id"].(string)
	grace.Do("DELETE", "/api/workspaces/"+workspace+"/members/"+me, "").Want(w.t, http.StatusOK)
	graceID = ada.AddMember(workspace, grace, "grace", "viewer")
	ada.Do("GET", "/api/workspaces/"+workspace, "").Want(w.t, http.StatusOK)
	return graceID
}

func (w *watched) webhooks(ada *platformtest.Client, workspace, project string) {
	w.t.Helper()
	ada.Do("GET", "/api/workspaces", "").Want(w.t, http.StatusOK)
	r := hooktest.New(w.t)
	hooks := map[string]string{} // by path
	for _, path := range []string{"/ok", "/fail?n=1", "/gone"} {
		fields := platformtest.Object{"workspaceId": workspace}
		if path == "/ok" {
			fields["projectId"] = project
		}
		hooks[path] = ada.Subscribe(r.URL(path), fields)
	}
	hook := ada.Subscribe(r.URL("/ok/kept"), platformtest.Object{"workspaceId": workspace})
	at := "/api/webhooks/" + hook
	ada.Save(project, "/hooked.txt", "x").Want(w.t, http.StatusCreated)
	received(w.t, r, "/fail", 2)
	ada.Do("GET", "/api/webhooks", "").Want(w.t, http.StatusOK)
	ada.Do("GET", at, "").Want(w.t, http.StatusOK)
	ada.Do("PUT", at, `{"description":"changed"}`).Want(w.t, http.StatusOK)
	ada.Do("POST", at+"/test", "").Want(w.t, http.StatusOK)
	deliveries := ada.Do("GET", at+"/deliveries", "").List(w.t, "deliveries")
	ada.Do("GET", fmt.Sprint(at, "/deliveries/", deliveries[0]["id"]), "").Want(w.t, http.StatusOK)
	w.redeliver(ada, at)
	w.redeliver(ada, "/api/webhooks/"+hooks["/gone"]) // the fast lane moves it to the slow lane
	ada.Do("POST", at+"/recover", `{"since":"2026-01-01T00:00:00Z"}`).Want(w.t, http.StatusAccepted)
	w.makeDue()
	w.run("WebhookRetryFunction", "{}")
	w.run("ProjectCleanupFunction", "{}")
	ada.Do("DELETE", at, "").Want(w.t, http.StatusOK)
}

// removal deletes a workspace with a site, and removes its data.
func (w *watched) removal(ada *platformtest.Client) {
	w.t.Helper()
	workspace, _ := ada.Do("POST", "/api/workspaces", `{"name":"Gone"}`).Want(w.t, http.StatusCreated)["id"].(string)
	ada.NewProject("Without a site", platformtest.Object{"workspaceId": workspace})
	project := ada.NewProject("With a site", platformtest.Object{"workspaceId": workspace})
	ada.Do("POST", "/api/projects/"+project+"/deployments", `{"target":"preview"}`).Want(w.t, http.StatusAccepted)
	ada.Do("DELETE", "/api/workspaces/"+workspace, `{"confirm":"Gone"}`).Want(w.t, http.StatusAccepted)
	w.change("ProjectsTable", "REMOVAL", "dueAt", "2026-01-01T00:00:00.000Z")
	w.run("ProjectCleanupFunction", `{"task":"removals"}`)
}

// accountRemoval deletes the account of a user who worked in workspaces of others, and removes its data.
func (w *watched) accountRemoval(owner *platformtest.Client) {
	w.t.Helper()
	heidi := platformtest.NewClient(w.t, w.url)
	heidi.SignUp("heidi")
	team, _ := owner.Do("POST", "/api/workspaces", `{"name":"Heidi's team"}`).Want(w.t, http.StatusCreated)["id"].(string)
	owner.AddMember(team, heidi, "heidi", "admin")
	project := owner.NewProject("Shared", platformtest.Object{"workspaceId": team, "visibility": "team"})
	heidi.Do("POST", "/api/projects/"+project+"/comments", `{"body":"Nice."}`).Want(w.t, http.StatusCreated)
	heidi.Do("POST", "/api/webhooks", platformtest.Object{
		"workspaceId": team, "url": "http://127.0.0.1:1/hook", "events": []string{"file.created"},
	}.String()).Want(w.t, http.StatusCreated)
	w.accountExport(heidi)
	heidi.Do("DELETE", "/api/auth/me", `{"confirm":"heidi"}`).Want(w.t, http.StatusAccepted)
	for range 3 { // the account adds the removal of its workspaces, and then waits for them
		w.change("ProjectsTable", "REMOVAL", "dueAt", "2026-01-01T00:00:00.000Z")
		w.run("ProjectCleanupFunction", `{"task":"removals"}`)
	}
}

// redeliver requests a redelivery of the newest delivery of a webhook.
func (w *watched) redeliver(ada *platformtest.Client, hook string) {
	w.t.Helper()
	deliveries := ada.Do("GET", hook+"/deliveries", "").List(w.t, "deliveries")
	ada.Do("POST", fmt.Sprint(hook, "/deliveries/", deliveries[0]["id"], "/redeliver"), "").Want(w.t, http.StatusAccepted)
}

// makeDue makes all deliveries and webhooks due now. The state in which the attempts left them does not matter.
func (w *watched) makeDue() {
	w.t.Helper()
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	w.change("WebhooksTable", "WEBHOOK#", "due", db.DuePartition(0))
	w.change("WebhooksTable", "WEBHOOK#", "dueAt", now)
}

// assistant calls all operations of the assistant, and enough of them that old messages are summarized.
func (w *watched) assistant(ada *platformtest.Client, project string) {
	w.t.Helper()
	ada.Save(project, "/old.txt", "old").Want(w.t, http.StatusCreated)
	ask := platformtest.Object{"projectId": project, "message": "Change all.", "context": platformtest.Object{"currentFile": "/b.txt"}, "apply": true}.String()
	if first := ada.Do("POST", "/api/ai/chat", ask).Want(w.t, http.StatusOK); first["applied"] != true {
		w.t.Errorf("got answer %v, want an applied one", first)
	}
	next := platformtest.Object{"projectId": project, "message": "And now?", "context": platformtest.Object{"currentFile": "/large.txt"}}.String()
	for range 9 {
		ada.Do("POST", "/api/ai/chat", next).Want(w.t, http.StatusOK)
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

// accountExport exports the account of a user.
func (w *watched) accountExport(ada *platformtest.Client) {
	w.t.Helper()
	id, _ := ada.Do("POST", "/api/auth/export", "").Want(w.t, http.StatusAccepted)["id"].(string)
	var export map[string]any
	platformtest.Eventually(w.t, "an export of an account that is ready", func() bool {
		export = ada.Do("GET", "/api/auth/export/"+id, "").Want(w.t, http.StatusOK)
		return export["status"] == "ready"
	})
	w.download(export["url"])
}

// download downloads the archive of an export.
func (w *watched) download(url any) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, fmt.Sprint(url), http.NoBody)
	must(w.t, err)
	response, err := http.DefaultClient.Do(r)
	must(w.t, err)
	must(w.t, response.Body.Close())
	if response.StatusCode != http.StatusOK {
		w.t.Errorf("the download of an export: got status %d, want 200", response.StatusCode)
	}
}

func (w *watched) exports(ada *platformtest.Client, project string) {
	w.t.Helper()
	at := "/api/projects/" + project + "/exports"
	read := func(want string) (export map[string]any) {
		id, _ := ada.Do("POST", at, "").Want(w.t, http.StatusAccepted)["id"].(string)
		platformtest.Eventually(w.t, "an export that is "+want, func() bool {
			export = ada.Do("GET", at+"/"+id, "").Want(w.t, http.StatusOK)
			return export["status"] == want
		})
		return export
	}
	w.download(read("ready")["url"])
	ada.Save(project, "/damaged.txt", "x").Want(w.t, http.StatusCreated)
	w.change("ProjectsTable", "FILE#/damaged.txt", "content", "missing")
	read("failed")
	ada.Do("DELETE", "/api/projects/"+project+"/files?path=/damaged.txt", "").Want(w.t, http.StatusOK)
}

// large returns a text that is stored in the bucket.
func large() string {
	var text strings.Builder
	for text.Len() < 10_000 {
		text.WriteString(rand.Text())
	}
	return text.String()
}

// bedrock is a fake of Bedrock. If the message is "Change all.", it takes more than a second, and then creates, updates
// and deletes a file.
func (w *watched) bedrock(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	isChange := bytes.Contains(body, []byte("toolConfig")) && // a summary has no tools
		bytes.Contains(body, []byte("Change all.")) && !bytes.Contains(body, []byte("And now?"))
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
	if isChange {
		_ = http.NewResponseController(rw).Flush()
		if w.meanwhile != nil {
			w.meanwhile()
		}
		select {
		case <-time.After(1500 * time.Millisecond): // the function checks for cancellation in this time
		case <-r.Context().Done():
		}
		for i, call := range []string{
			`create_file {"path":"/new.txt","content":"` + large() + `"}`, `update_file {"path":"/b.txt","content":"other"}`, `delete_file {"path":"/old.txt"}`,
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

// queueEvent is an event of a queue with one message, whose body is "?".
const queueEvent = `{"Records":[{"messageId":"m","receiptHandle":"r","body":"?","attributes":{"ApproximateReceiveCount":"1","SentTimestamp":"1"},"eventSource":"aws:sqs"}]}`

// poison invokes each consumer with a record or message that is not valid.
func (w *watched) poison() {
	w.t.Helper()
	const record = `{"Records":[{"eventName":"INSERT","eventSource":"aws:dynamodb","dynamodb":{"SequenceNumber":"1","ApproximateCreationDateTime":1,"NewImage":{"pk":{"S":"x"}}}}]}`
	w.run("ProjectCleanupFunction", record)
	w.run("WebhookFanoutFunction", record)
	w.run("MailerFunction", record)
	w.run("WebhookDeliveryFunction", queueEvent)
	w.run("WebhookSlowDeliveryFunction", queueEvent)
	w.change("EventsTable", "WS#", "workspaceId", "damaged")
	w.each("EventsTable", "WS#", func(_ *dynamodb.Client, _ *string, key map[string]types.AttributeValue) {
		body := fmt.Sprintf(`{"workspaceId":%q,"events":[{"id":%q}]}`, strings.TrimPrefix(text(key["pk"]), "WS#"), text(key["sk"]))
		w.run("WebhookSlowDeliveryFunction", strings.Replace(queueEvent, `"?"`, strconv.Quote(body), 1))
	})
}
