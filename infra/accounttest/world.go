// Package accounttest is the fixture of the tests of exports and deletions of accounts: all endpoints of the API on one
// embedded DynamoDB and S3, with real sessions. Background work runs when a test asks for it.
package accounttest

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/infra/slicetest"
	"devplatform/shared/account"
	"devplatform/shared/account/activity"
	"devplatform/shared/account/attempt"
	"devplatform/shared/account/deletion"
	accountexport "devplatform/shared/account/export"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/account/password"
	"devplatform/shared/account/session"
	"devplatform/shared/account/user"
	"devplatform/shared/assistant"
	"devplatform/shared/assistant/conversation"
	"devplatform/shared/assistant/scaffold"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/job"
	"devplatform/shared/lambdafn"
	"devplatform/shared/mail"
	"devplatform/shared/metric"
	"devplatform/shared/objectstore"
	"devplatform/shared/project"
	"devplatform/shared/project/export"
	"devplatform/shared/project/file"
	"devplatform/shared/webhook"
	"devplatform/shared/webhook/revocation"
	"devplatform/shared/workspace"
)

// Password is the password of all users.
const Password = "correct horse battery"

const origin = config.Origin("https://sites.example")

// World is a stack without functions.
type World struct {
	T        *testing.T
	Clock    *slicetest.Clock
	Log      *slicetest.Log
	Endpoint string // of DynamoDB
	SDK      *dynamodb.Client
	S3       *s3.Client
	Bucket   string
	Client   *db.Client
	Keys     *config.Keys
	IDs      *id.Generator
	Tables   config.Tables
	// Contents, Events, Webhooks, Conversations and Sites are the names of the other tables.
	Contents, Events, Webhooks, Conversations, Sites string
	Server                                           *httptest.Server

	mu       sync.Mutex
	messages []string // of the queue of jobs
}

// New returns a stack without users.
func New(t *testing.T) *World {
	t.Helper()
	w := &World{
		T: t, Clock: slicetest.NewClock(time.Date(2031, 5, 5, 10, 5, 0, 0, time.UTC), 0), Log: slicetest.NewLog(),
		Endpoint: dynamotest.StartServer(t), S3: s3test.Client(s3test.StartServer(t)),
	}
	w.SDK, w.Bucket = dynamotest.Client(w.Endpoint), s3test.CreateBucket(t, w.S3, "files")
	w.IDs, w.Keys = id.NewGenerator(w.Clock.Now, rand.Reader), slicetest.Keys(w.Clock.Now)
	w.Tables = config.Tables{
		Accounts: slicetest.Table(t, w.SDK, "accounts"), Projects: "projects-" + strings.ToLower(rand.Text()),
		Mail: slicetest.Table(t, w.SDK, "mail"),
	}
	functiontest.CreateProjectsTable(t, w.SDK, w.Tables.Projects)
	w.Webhooks = "webhooks-" + strings.ToLower(rand.Text())
	functiontest.CreateWebhooksTable(t, w.SDK, w.Webhooks)
	w.Contents, w.Events = slicetest.Table(t, w.SDK, "contents"), slicetest.Table(t, w.SDK, "events")
	w.Conversations, w.Sites = slicetest.Table(t, w.SDK, "conversations"), slicetest.Table(t, w.SDK, "sites")
	w.Client = db.Wrap(w.SDK, w.Clock.Now)
	w.Server = httptest.NewServer(w.Handler(w.Client, w.S3))
	t.Cleanup(w.Server.Close)
	return w
}

// Projects returns the table of projects.
func (w *World) Projects() db.Table { return w.Client.Table(w.Tables.Projects) }

// Accounts returns the table of accounts.
func (w *World) Accounts() db.Table { return w.Client.Table(w.Tables.Accounts) }

// Objects returns the keys of all objects in the bucket.
func (w *World) Objects() (keys []string) {
	w.T.Helper()
	pages := s3.NewListObjectsV2Paginator(w.S3, &s3.ListObjectsV2Input{Bucket: &w.Bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(w.T.Context())
		if err != nil {
			w.T.Fatal(err)
		}
		for _, o := range page.Contents {
			keys = append(keys, *o.Key)
		}
	}
	return keys
}

// Handler returns the endpoints of the API with clients of DynamoDB and S3.
func (w *World) Handler(client *db.Client, objects *s3.Client) http.Handler {
	logger, cursors := slog.New(w.Log), db.NewCursors(w.Keys)
	projects, bucket := client.Table(w.Tables.Projects), objectstore.Wrap(s3test.Of(objects)).Bucket(w.Bucket)
	outbox, users := event.Outbox{Events: client.Table(w.Events), IDs: w.IDs}, user.NewStore(client, w.Tables)
	mails := mail.Settings{From: "no-reply@example.com"}
	files := file.New(file.Deps{
		DB: client, Projects: projects, Contents: client.Table(w.Contents), Bucket: bucket, Outbox: outbox,
		Cursors: cursors, IDs: w.IDs, Clock: w.Clock.Now, Quotas: file.DefaultQuotas(),
	})
	deployments := deployment.New(deployment.Deps{
		Store: deployment.Store{
			DB: client, Projects: projects, Sites: client.Table(w.Sites), Outbox: outbox, Origin: origin, MaxOutput: 1 << 30,
		},
		Cursors: cursors, Bucket: bucket, Send: w.send, IDs: w.IDs, Clock: w.Clock.Now, Logger: logger,
		Limits: config.Defaults[deployment.Limits](),
	})
	slices := []func(*httpapi.Routes){
		account.New(account.Deps{
			DB: client, Tables: w.Tables, Keys: w.Keys, IDs: w.IDs, Clock: w.Clock.Now, Logger: logger,
			Limits: config.Defaults[attempt.Limits](), Mail: mails, Bucket: bucket, Send: w.send,
			Hasher: password.NewHasher(password.HashParams{MemoryKiB: 8, Time: 1, Threads: 1, SaltBytes: 16, KeyBytes: 32}, 4),
			Edge:   config.Edge{CookiePlainHTTP: true},
		}).Register,
		workspace.New(workspace.Deps{
			DB: client, Projects: projects, Outbox: outbox, Cursors: cursors, People: users, IDs: w.IDs, Clock: w.Clock.Now,
			Mail:            mail.NewOutbox(client, w.Tables, w.Keys, w.IDs, w.Clock.Now, mails),
			DisableWebhooks: revocation.Store{Webhooks: client.Table(w.Webhooks)}.Disable,
		}).Register,
		project.New(project.Deps{
			DB: client, Projects: projects, Outbox: outbox, Cursors: cursors, Files: files, IDs: w.IDs, Clock: w.Clock.Now,
			Logger: logger, RemoveSite: deployments.RemoveSite, Sites: origin,
		}).Register,
		files.Register, deployments.Register,
		export.New(export.Deps{
			DB: client, Projects: projects, Bucket: bucket, Send: w.send, Clock: w.Clock.Now, Logger: logger,
			HourlyLimit: export.DefaultHourlyLimit,
		}).Register,
		webhook.New(webhook.Deps{
			DB: client, Webhooks: client.Table(w.Webhooks), Projects: projects, Events: client.Table(w.Events), Keys: w.Keys,
			Cursors: cursors, IDs: w.IDs, Clock: w.Clock.Now, Logger: logger, Limits: webhook.DefaultLimits(),
			AllowPrivate: true,
		}).Register,
		assistant.New(assistant.Deps{
			DB: client, Conversations: client.Table(w.Conversations), Projects: projects, Files: files,
			Cursors: cursors, IDs: w.IDs,
			Clock: w.Clock.Now, Logger: logger, Model: scaffold.New(), Limits: assistant.DefaultLimits(),
		}).Register,
	}
	return withRequestInfo(httpapi.NewRouter(httpapi.Config{
		Edge: config.Edge{CookiePlainHTTP: true}, Logger: logger, Clock: w.Clock.Now,
		Auth: session.New(client, w.Tables, w.Keys, w.Clock.Now, logger),
	}, slices...))
}

// withRequestInfo adds the request information that API Gateway provides in production.
func withRequestInfo(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		info := httpapi.RequestInfo{
			RequestID: rand.Text(), SourceIP: "203.0.113.1", UserAgent: r.UserAgent(), BaseURL: "http://" + r.Host,
		}
		next.ServeHTTP(out, r.WithContext(httpapi.WithRequestInfo(r.Context(), info)))
	})
}

// send puts a message into the queue of jobs.
func (w *World) send(_ context.Context, body, _ string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.messages = append(w.messages, body)
	return nil
}

// Resend sends the message of a job again, as the sweep does.
func (w *World) Resend(ownerID, recordID string) {
	j := job.Job{OwnerID: ownerID, ID: recordID}
	j.Send(w.T.Context(), w.send, slog.New(w.Log))
}

// RunExports runs the jobs of account exports whose messages were sent, with the clients of Through. It returns the
// error of each message.
func (w *World) RunExports(through aws.HTTPClient) []error {
	w.T.Helper()
	client, objects := w.Through(through)
	logger := slog.New(w.Log)
	tables := accountexport.Tables{
		Accounts: client.Table(w.Tables.Accounts), Projects: client.Table(w.Tables.Projects),
		Webhooks: client.Table(w.Webhooks), Conversations: client.Table(w.Conversations), Sites: client.Table(w.Sites),
	}
	kind := accountexport.NewKind(accountexport.WorkerDeps{
		DB: client, Tables: tables, Users: user.NewStore(client, w.Tables), Clock: w.Clock.Now, Logger: logger,
		Bucket:    objectstore.Wrap(s3test.Of(objects)).Bucket(w.Bucket),
		Questions: conversation.NewStore(client, tables.Conversations).Questions,
	})
	worker := job.NewWorker(job.Deps{
		Jobs: job.Store{DB: client, Projects: tables.Projects}, Kinds: []job.Kind{kind}, Send: w.send, Clock: w.Clock.Now,
		ReturnAfter: func(context.Context, string, time.Duration) error { return nil }, Logger: logger,
		Metrics: metric.New(logger, "stack", w.Clock.Now),
	})
	w.mu.Lock()
	var messages []lambdafn.QueueMessage
	for i, body := range w.messages {
		messages = append(messages, lambdafn.QueueMessage{ID: fmt.Sprint(i), Body: body})
	}
	w.messages = nil
	w.mu.Unlock()
	return worker.Handle(w.T.Context(), messages)
}

// Through returns clients of DynamoDB and S3 that send their requests through an HTTP client, without retries. nil
// means the default clients.
func (w *World) Through(through aws.HTTPClient) (*db.Client, *s3.Client) {
	if through == nil {
		return w.Client, w.S3
	}
	client := db.Wrap(dynamotest.Client(w.Endpoint, func(o *dynamodb.Options) {
		o.HTTPClient, o.Retryer = through, aws.NopRetryer{}
	}), w.Clock.Now)
	return client, s3test.Client(*w.S3.Options().BaseEndpoint, func(o *s3.Options) {
		o.HTTPClient, o.Retryer = through, aws.NopRetryer{}
	})
}

// Deletion returns a service that deletes accounts with a client of DynamoDB.
func (w *World) Deletion(client *db.Client) *deletion.Service {
	accounts, users := client.Table(w.Tables.Accounts), user.NewStore(client, w.Tables)
	outbox := mail.NewOutbox(client, w.Tables, w.Keys, w.IDs, w.Clock.Now, mail.Settings{From: "no-reply@example.com"})
	return deletion.New(deletion.Deps{
		DB: client, Accounts: accounts, Projects: client.Table(w.Tables.Projects), Users: users, Clock: w.Clock.Now,
		Mails: mailtoken.Mails{Outbox: outbox, Users: users}, Activity: activity.New(client, accounts, w.Clock.Now),
	})
}

// User is a user with a session.
type User struct {
	*slicetest.Client
	World                         *World
	Name, ID, Personal, UserEmail string
}

// NewUser signs up a user and logs in.
func (w *World) NewUser(name string) *User {
	w.T.Helper()
	client := slicetest.NewClient(w.T, w.Server.URL, w.Log)
	u := &User{Client: client, World: w, Name: name, UserEmail: name + "@example.com"}
	body := map[string]string{"email": u.UserEmail, "username": name, "password": Password}
	u.ID = u.Do(http.MethodPost, "/api/auth/signup", body).Want(w.T, http.StatusCreated).Text("userId")
	u.Login().Want(w.T, http.StatusOK)
	u.Personal = u.Get("/api/workspaces").Want(w.T, http.StatusOK).Texts("workspaces", "id")[0]
	return u
}

// At returns the user with the same session at another server.
func (u *User) At(server string) *User {
	other := *u
	other.Client = slicetest.NewClient(u.World.T, server, u.World.Log)
	other.SetCookie("session", u.Cookie("session"))
	return &other
}

// Login logs the user in.
func (u *User) Login() slicetest.Response {
	u.World.T.Helper()
	return u.Do(http.MethodPost, "/api/auth/login", map[string]string{"email": u.UserEmail, "password": Password})
}

// Workspace creates a workspace and returns its ID.
func (u *User) Workspace(name string) string {
	u.World.T.Helper()
	return u.Do(http.MethodPost, "/api/workspaces", map[string]string{"name": name}).
		Want(u.World.T, http.StatusCreated).Text("id")
}

// Join makes the user a member of a workspace of another user.
func (u *User) Join(owner *User, workspaceID string, role workspace.Role) {
	u.World.T.Helper()
	body := map[string]string{"username": u.Name, "role": string(role)}
	invited := owner.Do(http.MethodPost, "/api/workspaces/"+workspaceID+"/invitations", body).
		Want(u.World.T, http.StatusCreated)
	u.Do(http.MethodPost, "/api/invitations/"+invited.Text("id")+"/accept", nil).Want(u.World.T, http.StatusOK)
}

// Own makes the user, who is a member of a workspace, an owner too.
func (u *User) Own(owner *User, workspaceID string) {
	u.World.T.Helper()
	path, body := "/api/workspaces/"+workspaceID+"/members/"+u.ID, map[string]string{"role": "owner"}
	offer := owner.Do(http.MethodPut, path, body).Want(u.World.T, http.StatusAccepted).Body["invitation"]
	invitation, _ := offer.(map[string]any)
	u.Do(http.MethodPost, fmt.Sprint("/api/invitations/", invitation["id"], "/accept"), nil).
		Want(u.World.T, http.StatusOK)
}

// Project creates a project that the whole workspace sees, and returns its ID. workspaceID "" means the personal
// workspace.
func (u *User) Project(workspaceID, name string) string {
	u.World.T.Helper()
	if workspaceID == "" {
		workspaceID = u.Personal
	}
	body := map[string]string{"name": name, "workspaceId": workspaceID, "visibility": "team"}
	return u.Do(http.MethodPost, "/api/projects", body).Want(u.World.T, http.StatusCreated).Text("id")
}

// Comment comments on a project.
func (u *User) Comment(projectID, text string) {
	u.World.T.Helper()
	u.Do(http.MethodPost, "/api/projects/"+projectID+"/comments", map[string]string{"body": text}).
		Want(u.World.T, http.StatusCreated)
}

// Ask asks the assistant about a project.
func (u *User) Ask(projectID, text string) {
	u.World.T.Helper()
	u.Do(http.MethodPost, "/api/ai/chat", map[string]any{"projectId": projectID, "message": text}).
		Want(u.World.T, http.StatusOK)
}

// Hook creates a webhook and returns its ID.
func (u *User) Hook(workspaceID, url string) string {
	u.World.T.Helper()
	body := map[string]any{"workspaceId": workspaceID, "url": url, "events": []string{"*"}}
	return u.Do(http.MethodPost, "/api/webhooks", body).Want(u.World.T, http.StatusCreated).Text("id")
}

// Download returns the body at a URL.
func (w *World) Download(url string) []byte {
	w.T.Helper()
	r, err := http.NewRequestWithContext(w.T.Context(), http.MethodGet, url, nil)
	if err != nil {
		w.T.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		w.T.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		w.T.Fatalf("the download failed: %v, %d %s", err, response.StatusCode, data)
	}
	return data
}
