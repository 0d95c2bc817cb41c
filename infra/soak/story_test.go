package soak

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"devplatform/infra/hooktest"
	"devplatform/infra/platformtest"
)

// deliveryLimit limits the wait for the events of a user.
const deliveryLimit = 2 * time.Minute

// traffic is the traffic of all users.
type traffic struct {
	t        *testing.T
	p        *platform
	receiver *hooktest.Receiver
	requests atomic.Int64
	users    atomic.Int64
}

// user is a user with a browser, who sends one request after another.
type user struct {
	*platformtest.Client

	traffic *traffic
	name    string
	events  string // the path at which the receiver gets the events of the user's project
}

// do sends a request and counts it. Unlike the client's Do, it can be called on any goroutine, because it does not stop
// the test.
func (u *user) do(method, path, body string, want int, header ...string) platformtest.Response {
	u.traffic.requests.Add(1)
	a, err := u.Try(method, path, body, header...)
	switch {
	case err != nil:
		u.traffic.t.Errorf("%s %s: %v", method, path, err)
	case a.Status != want:
		u.traffic.t.Errorf("%s %s: %d, want %d: %s", method, path, a.Status, want, a.Body)
	default:
		check(u.traffic.t, method, path, a)
	}
	return a
}

// day uses each feature once as a new user, and deletes the user's project at the end, so that the data does not grow.
func (tr *traffic) day(ctx context.Context) {
	n := tr.users.Add(1)
	name := fmt.Sprintf("user%d", n)
	u := &user{platformtest.NewClient(tr.t, tr.p.url), tr, name, fmt.Sprintf("/ok/%d", n)}
	defer u.HTTP.CloseIdleConnections()
	account := platformtest.Object{"email": name + "@example.com", "password": platformtest.Password}
	login := account.String()
	account["username"] = name
	u.do("POST", "/api/auth/signup", account.String(), http.StatusCreated)
	u.do("POST", "/api/auth/login", login, http.StatusOK)
	u.do("POST", "/api/auth/login", `{"email":"`+name+`@example.com","password":"wrong password"}`, http.StatusUnauthorized)
	u.do("GET", "/api/auth/me", "", http.StatusOK)
	id := field(u.do("POST", "/api/projects", `{"name":"Soaked","framework":"react"}`, http.StatusCreated), "id")
	project := "/api/projects/" + id
	hooks := []string{}
	for _, path := range []string{u.events, fmt.Sprintf("/fail/%d?n=1", n)} {
		hook := platformtest.Object{"url": tr.receiver.URL(path), "events": []string{"file.*"}, "secret": platformtest.HookSecret, "projectId": id}
		hooks = append(hooks, field(u.do("POST", "/api/webhooks", hook.String(), http.StatusCreated), "id"))
	}
	if n%20 == 0 { // an endpoint that hangs occupies a worker until the attempt times out
		hook := platformtest.Object{"url": tr.receiver.URL(fmt.Sprintf("/hang/%d", n)), "events": []string{"project.updated"}, "secret": platformtest.HookSecret, "projectId": id}
		hooks = append(hooks, field(u.do("POST", "/api/webhooks", hook.String(), http.StatusCreated), "id"))
		u.do("PUT", project, `{"description":"A description"}`, http.StatusOK)
	}
	u.talk(ctx, id) // first, because the built-in generator fills only empty projects
	saved := u.work(project)
	u.mistakes(project)
	tr.delivered(ctx, u.events, saved)
	for _, hook := range hooks {
		u.do("GET", "/api/webhooks/"+hook+"/deliveries", "", http.StatusOK)
		u.do("DELETE", "/api/webhooks/"+hook, "", http.StatusOK)
	}
	u.do("DELETE", project, "", http.StatusOK)
	u.do("GET", project, "", http.StatusNotFound)
	u.do("POST", "/api/auth/logout", "", http.StatusOK)
	u.do("GET", "/api/auth/me", "", http.StatusUnauthorized)
}

// work saves and reads files, and returns the number of events of files that it causes.
func (u *user) work(project string) (events int) {
	for n := range 5 {
		path := fmt.Sprintf("/src/file%d.txt", n)
		content := strings.Repeat(fmt.Sprintf("%s %d ", u.name, n), 1+n*n*200)
		u.do("POST", project+"/files", platformtest.Object{"path": path, "content": content}.String(), http.StatusCreated)
		if got := field(u.do("GET", project+"/files?path="+path, "", http.StatusOK), "content"); got != content {
			u.traffic.t.Errorf("%s: read %.40q, wrote %.40q", path, got, content)
		}
		events++
	}
	u.do("POST", project+"/files/batch", `{"operations":[{"op":"rename","path":"/src/file0.txt","to":"/a.txt"},{"op":"update","path":"/src/file1.txt","content":"new"},{"op":"delete","path":"/src/file2.txt"}]}`, http.StatusOK)
	u.do("POST", project+"/comments", `{"body":"Looks good"}`, http.StatusCreated)
	for _, list := range []string{"", "/files", "/files?include=content", "/files/history?path=/src/file1.txt", "/events", "/comments"} {
		u.do("GET", project+list, "", http.StatusOK)
	}
	u.do("GET", "/api/projects", "", http.StatusOK)
	return events + 3 // the operations of the batch
}

// mistakes sends requests that are not valid, and one whose client does not wait for the response.
func (u *user) mistakes(project string) {
	u.do("POST", project+"/files", `{"path":`, http.StatusBadRequest)
	u.do("POST", project+"/files", `{"path":"../up","content":""}`, http.StatusBadRequest)
	u.do("GET", project+"/files?path=/nowhere", "", http.StatusNotFound)
	u.do("GET", project+"/events?cursor=forged", "", http.StatusBadRequest)
	u.do("PATCH", project, "{}", http.StatusMethodNotAllowed)
	ctx, cancel := context.WithTimeout(u.traffic.t.Context(), time.Millisecond)
	defer cancel()
	if request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.Base+project+"/files?include=content", nil); err == nil {
		u.traffic.requests.Add(1)
		if response, err := u.HTTP.Do(request); err == nil {
			_ = response.Body.Close()
		}
	}
}

// talk chats with the assistant, and reads a stream to its end.
func (u *user) talk(ctx context.Context, id string) {
	u.do("POST", "/api/ai/chat", platformtest.Object{"projectId": id, "message": "How do I add a contact form?"}.String(), http.StatusOK)
	u.do("GET", "/api/ai/conversations/"+id, "", http.StatusOK)
	body := platformtest.Object{"projectId": id, "message": "Create a todo list."}.String()
	request, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodPost, u.Base+"/api/ai/chat/stream", strings.NewReader(body))
	if err != nil {
		u.traffic.t.Error(err)
		return
	}
	request.Header.Set("Content-Type", "application/json")
	u.traffic.requests.Add(1)
	response, err := u.HTTP.Do(request)
	if err != nil {
		u.traffic.t.Errorf("stream: %v", err)
		return
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || !strings.HasSuffix(strings.TrimSpace(string(text)), "data: [DONE]") {
		u.traffic.t.Errorf("stream: %d, %v: …%.200s", response.StatusCode, err, text[max(0, len(text)-200):])
	}
}

// delivered waits until a number of different events has arrived at a path.
func (tr *traffic) delivered(ctx context.Context, path string, events int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deliveryLimit)
	defer cancel()
	if err := tr.receiver.Wait(ctx, func(r *hooktest.Receiver) bool { return len(r.IDs(path)) >= events }); err != nil {
		tr.t.Errorf("%s: %v", path, err)
	}
	for _, request := range tr.receiver.To(path) {
		if err := request.Verify(platformtest.HookSecret); err != nil {
			tr.t.Error(err)
		}
	}
}
