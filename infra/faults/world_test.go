package faults

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"devplatform/infra/hooktest"
	"devplatform/infra/platformtest"
)

type object = platformtest.Object

// world is a platform with users and data, whose services can have faults.
type world struct {
	t        testing.TB
	cloud    *cloud
	platform *platformtest.Platform
	receiver *hooktest.Receiver
	ada      *platformtest.Client // the owner of all workspaces and projects
	project  string               // the project that the requests change
	hook     string               // the webhook that subscribes to the events of the project
	team     string               // a workspace with the member grace
	grace    string               // the ID of the user
	rounds   int                  // how often requests was called
}

func newWorld(t testing.TB, env ...string) *world {
	t.Helper()
	w := &world{t: t, cloud: newCloud(t), receiver: hooktest.New(t)}
	w.platform = w.cloud.start(append(append(newModel(t), "LIMIT_INVITATIONS_DAY=1000000"), env...)...)
	w.ada = w.client()
	w.ada.SignUp("ada")
	grace := w.client()
	w.grace = grace.SignUp("grace")
	w.team = text(w.ada.Do("POST", "/api/workspaces", `{"name":"Team"}`).Want(t, http.StatusCreated), "id")
	w.ada.AddMember(w.team, grace, "grace", "viewer")
	w.project = w.ada.NewProject("Work", nil)
	w.hook = w.ada.Subscribe(w.receiver.URL("/ok/work"), object{"projectId": w.project})
	w.ada.Save(w.project, "/main.ts", "main").Want(t, http.StatusCreated)
	w.chat(w.ada, "/api/ai/chat", "Create /contact.html").Want(t, http.StatusOK)
	w.waitForDeliveries()
	return w
}

// client returns a client without a session.
func (w *world) client() *platformtest.Client {
	c := platformtest.NewClient(w.t, w.platform.URL)
	c.HTTP.Timeout = 2 * time.Minute // longer than any response takes
	return c
}

// chat sends a message to the assistant, and applies the answer.
func (w *world) chat(c *platformtest.Client, path, message string) platformtest.Response {
	w.t.Helper()
	return c.Do("POST", path, object{"projectId": w.project, "message": message, "apply": true}.String())
}

// text returns a string field of a response, or "".
func text(fields map[string]any, name string) string {
	value, _ := fields[name].(string)
	return value
}

// request is a request that needs DynamoDB.
type request struct {
	name               string
	client             *platformtest.Client
	method, path, body string
	good               []int // the statuses of a success
	again              []int // further statuses of a repeated request, if the first one made the change
}

// requests returns a request of every kind. It creates the data that the requests need. Each request that deletes or
// ends something has data of its own, so it can be sent during a fault and again after it.
func (w *world) requests() []request {
	w.t.Helper()
	w.rounds++
	n := w.rounds
	name := func(prefix string) string { return fmt.Sprintf("%s-%d", prefix, n) }
	projectPath := "/api/projects/" + w.project
	ada, second, leaving := w.ada, w.client(), w.client()
	ada.Login("ada").Want(w.t, http.StatusOK)
	second.Login("ada").Want(w.t, http.StatusOK)
	leaving.Login("ada").Want(w.t, http.StatusOK)
	joining, declining := w.client(), w.client()
	newcomer := joining.SignUp(name("newcomer"))
	declining.SignUp(name("declining"))
	invitations := "/api/workspaces/" + w.team + "/invitations"
	invite := func(username string) string {
		body := object{"username": username, "role": "member"}.String()
		return text(ada.Do("POST", invitations, body).Want(w.t, http.StatusCreated), "id")
	}
	accepted, declined := invite(name("newcomer")), invite(name("declining"))
	w.client().SignUp(name("invited"))
	w.client().SignUp(name("revoked"))
	revoked := invite(name("revoked"))
	doomed := ada.NewProject(name("Doomed"), nil)
	spare := ada.Subscribe(w.receiver.URL("/ok/spare"), object{"projectId": doomed})
	extra := ada.Subscribe(w.receiver.URL("/ok/extra"), object{"projectId": doomed})
	comment := text(ada.Do("POST", projectPath+"/comments", `{"body":"to delete"}`).Want(w.t, http.StatusCreated), "id")
	ada.Save(w.project, name("/old")+".ts", "old").Want(w.t, http.StatusCreated)
	ada.Save(w.project, name("/kept")+".ts", "kept").Want(w.t, http.StatusCreated)
	w.waitForDeliveries()
	delivery := text(ada.Do("GET", "/api/webhooks/"+w.hook+"/deliveries?limit=1", "").List(w.t, "deliveries")[0], "id")
	chat := func(table string) string {
		message := "Create " + name("/"+table) + ".html"
		return object{"projectId": w.project, "message": message, "apply": true}.String()
	}
	ok, created := []int{200}, []int{201}
	return []request{
		{"sign up", w.client(), "POST", "/api/auth/signup", object{"email": name("s") + "@example.com", "username": name("s"), "password": platformtest.Password}.String(), created, []int{201, 409}},
		{"log in", w.client(), "POST", "/api/auth/login", object{"email": "ada@example.com", "password": platformtest.Password}.String(), ok, nil},
		{"log in wrongly", w.client(), "POST", "/api/auth/login", `{"email":"ada@example.com","password":"wrong"}`, []int{401}, nil},
		{"who am I", ada, "GET", "/api/auth/me", "", ok, nil},
		{"sessions", ada, "GET", "/api/auth/sessions", "", ok, nil},
		{"code host", w.client(), "GET", "/api/auth/codehost?redirect=/", "", []int{302}, nil},
		{"log out", leaving, "POST", "/api/auth/logout", "", ok, nil},
		{"change password", second, "PUT", "/api/auth/password", object{"currentPassword": "wrong", "newPassword": "another correct horse"}.String(), []int{401, 403, 400}, nil},

		{"workspaces", ada, "GET", "/api/workspaces", "", ok, nil},
		{"create workspace", ada, "POST", "/api/workspaces", object{"name": name("W")}.String(), created, nil},
		{"members", ada, "GET", "/api/workspaces/" + w.team + "/members", "", ok, nil},
		{"workspace", ada, "GET", "/api/workspaces/" + w.team, "", ok, nil},
		{"rename workspace", ada, "PUT", "/api/workspaces/" + w.team, object{"name": name("T")}.String(), ok, nil},
		{"invite", ada, "POST", invitations, object{"username": name("invited"), "role": "member"}.String(), created, []int{429}},
		{"invite an address", ada, "POST", invitations, object{"email": name("new") + "@example.com", "role": "viewer"}.String(), []int{201, 501}, []int{201, 429, 501}},
		{"preview", w.client(), "POST", "/api/invitations/preview", `{"token":"01KGA4V5N2ABCDEFGHJKMNPQRSx"}`, []int{400}, nil},
		{"accept by token", joining, "POST", "/api/invitations/accept", `{"token":"01KGA4V5N2ABCDEFGHJKMNPQRSx"}`, []int{400}, nil},
		{"invitations", ada, "GET", invitations, "", ok, nil},
		{"revoke invitation", ada, "DELETE", invitations + "/" + revoked, "", ok, []int{200, 404}},
		{"own invitations", joining, "GET", "/api/invitations", "", ok, nil},
		{"decline invitation", declining, "POST", "/api/invitations/" + declined + "/decline", "", ok, []int{200, 404}},
		{"accept invitation", joining, "POST", "/api/invitations/" + accepted + "/accept", "", ok, []int{200, 404}},
		{"change member", ada, "PUT", "/api/workspaces/" + w.team + "/members/" + w.grace, object{"role": []string{"member", "viewer"}[n%2]}.String(), ok, nil},
		{"remove member", ada, "DELETE", "/api/workspaces/" + w.team + "/members/" + newcomer, "", []int{200, 404}, nil},

		{"projects", ada, "GET", "/api/projects", "", ok, nil},
		{"create project", ada, "POST", "/api/projects", object{"name": name("P")}.String(), created, nil},
		{"read project", ada, "GET", projectPath, "", ok, nil},
		{"change project", ada, "PUT", projectPath, object{"description": name("d")}.String(), ok, nil},
		{"variables", ada, "GET", projectPath + "/variables", "", ok, nil},
		{"set variables", ada, "PUT", projectPath + "/variables", object{"variables": []object{{"name": "VITE_A", "value": name("v"), "target": "all"}}}.String(), ok, nil},
		{"delete project", ada, "DELETE", "/api/projects/" + doomed, "", ok, []int{200, 404}},
		{"feed", ada, "GET", projectPath + "/events", "", ok, nil},
		{"comment", ada, "POST", projectPath + "/comments", `{"body":"Hm."}`, created, nil},
		{"comments", ada, "GET", projectPath + "/comments", "", ok, nil},
		{"delete comment", ada, "DELETE", projectPath + "/comments/" + comment, "", ok, []int{200, 404}},

		{"files", ada, "GET", projectPath + "/files", "", ok, nil},
		{"files with content", ada, "GET", projectPath + "/files?include=content", "", ok, nil},
		{"read file", ada, "GET", projectPath + "/files?path=/main.ts", "", ok, nil},
		{"history", ada, "GET", projectPath + "/files/history?path=/main.ts", "", ok, nil},
		{"new file", ada, "POST", projectPath + "/files", object{"path": name("/new") + ".ts", "content": "new"}.String(), created, []int{200, 201}},
		{"save file", ada, "POST", projectPath + "/files", object{"path": "/main.ts", "content": name("main")}.String(), ok, nil},
		{"delete file", ada, "DELETE", projectPath + "/files?path=" + name("/old") + ".ts", "", ok, []int{200, 404}},
		{"batch", ada, "POST", projectPath + "/files/batch", object{"operations": []object{
			{"op": "create", "path": name("/batch/a") + ".ts", "content": "a"}, {"op": "rename", "path": name("/kept") + ".ts", "to": name("/batch/b") + ".ts"},
		}}.String(), ok, []int{200, 404, 409}},

		{"chat", ada, "POST", "/api/ai/chat", chat("invoices"), ok, nil},
		{"stream", ada, "POST", "/api/ai/chat/stream", chat("streamed"), ok, nil},
		{"generate", ada, "POST", "/api/ai/generate", `{"prompt":"a button"}`, ok, nil},
		{"conversation", ada, "GET", "/api/ai/conversations/" + w.project, "", ok, nil},
		{"usage", ada, "GET", "/api/ai/usage", "", ok, nil},
		{"cancel", ada, "POST", "/api/ai/messages/msg_01KGA5Q2X0ABCDEFGHJKMNPQRT/cancel", "", []int{404}, nil},

		{"webhooks", ada, "GET", "/api/webhooks", "", ok, nil},
		{"read webhook", ada, "GET", "/api/webhooks/" + spare, "", ok, nil},
		{"create webhook", ada, "POST", "/api/webhooks", object{"url": w.receiver.URL("/ok/new"), "events": []string{"project.deleted"}, "workspaceId": w.team}.String(), []int{201, 402}, nil},
		{"change webhook", ada, "PUT", "/api/webhooks/" + spare, object{"description": name("d")}.String(), ok, nil},
		{"delete webhook", ada, "DELETE", "/api/webhooks/" + extra, "", ok, []int{200, 404}},
		{"test webhook", ada, "POST", "/api/webhooks/" + spare + "/test", "{}", []int{200, 429}, nil},
		{"deliveries", ada, "GET", "/api/webhooks/" + w.hook + "/deliveries", "", ok, nil},
		{"redeliver", ada, "POST", "/api/webhooks/" + w.hook + "/deliveries/" + delivery + "/redeliver", "", []int{202, 429}, nil},
		{"recover", ada, "POST", "/api/webhooks/" + w.hook + "/recover", `{"since":"2026-01-01T00:00:00Z"}`, []int{202, 429}, nil},
	}
}

// send sends the request. It reads a streamed response to its end.
func (r request) send() platformtest.Response {
	r.client.T.Helper()
	return r.client.Do(r.method, r.path, r.body)
}

// waitForDeliveries waits until every event of the project has been delivered.
func (w *world) waitForDeliveries() {
	w.t.Helper()
	feed := w.ada.Feed(w.project)
	for id, raw := range feed {
		if strings.Contains(string(raw), `"type":"project.created"`) { // the project was created before the webhook
			delete(feed, id)
		}
	}
	missing := 0
	platformtest.EventuallyWithin(w.t, deliveredWithin, "the delivery of every event of the feed", func() bool {
		got := w.receiver.IDs("/ok/work")
		missing = 0
		for id := range feed {
			if got[id] == 0 {
				missing++
			}
		}
		return missing == 0
	})
}
