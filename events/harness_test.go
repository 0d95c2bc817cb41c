package events_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"devplatform/infra/functiontest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/s3/s3test"
	"devplatform/shared/account"
	"devplatform/shared/account/attempt"
	"devplatform/shared/account/oauth"
	"devplatform/shared/account/session"
	"devplatform/shared/account/user"
	"devplatform/shared/assistant"
	"devplatform/shared/assistant/scaffold"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/docs"
	"devplatform/shared/event"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn/apigateway"
	"devplatform/shared/objectstore"
	"devplatform/shared/project"
	"devplatform/shared/project/export"
	"devplatform/shared/project/file"
	"devplatform/shared/webhook"
	"devplatform/shared/webhook/revocation"
	"devplatform/shared/webhook/sender"
	"devplatform/shared/workspace"
)

// fixture contains the functions and the embedded DynamoDB that they use.
type fixture struct {
	functions map[string]*apigateway.Handler
	client    *db.Client
	tables    map[string]db.Table
	bucket    objectstore.Bucket
}

// signUp creates the account of the samples and returns its session cookie.
func (f *fixture) signUp(t *testing.T) (cookie string) {
	t.Helper()
	for _, sample := range []string{"auth-signup", "auth-login"} {
		payload, err := f.functions["AuthFunction"].Invoke(t.Context(), read(t, sample+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var got events.APIGatewayProxyResponse
		if err := json.Unmarshal(payload, &got); err != nil || got.StatusCode >= 300 {
			t.Fatalf("%s: got %s, error %v, want success", sample, payload, err)
		}
		if cookies := got.MultiValueHeaders["Set-Cookie"]; len(cookies) > 0 {
			cookie, _, _ = strings.Cut(cookies[0], ";")
		}
	}
	return cookie
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	sdk, objects := dynamotest.Start(t), s3test.Client(s3test.StartServer(t))
	suffix := strings.ToLower(rand.Text())
	f := &fixture{
		client: db.Wrap(sdk, time.Now), tables: map[string]db.Table{},
		bucket: objectstore.Wrap(s3test.Of(objects)).Bucket(s3test.CreateBucket(t, objects, "files")),
	}
	for _, name := range []string{"accounts", "projects", "contents", "conversations", "events", "webhooks", "sites"} {
		if name == "projects" {
			functiontest.CreateProjectsTable(t, sdk, name+"-"+suffix)
		} else {
			dynamotest.CreateTable(t, sdk, name+"-"+suffix, "pk", "sk")
		}
		f.tables[name] = f.client.Table(name + "-" + suffix)
	}
	tables := config.Tables{Accounts: "accounts-" + suffix, Projects: "projects-" + suffix}
	provider, err := oauth.New(oauth.Config{Provider: "github", ClientID: "id", ClientSecret: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	const ring = `{"current":"k1","k1":"a key that only the tests use 0123456789 0123456789 0123"}`
	keys := config.NewKeys(func(context.Context) (string, error) { return ring, nil }, time.Now)
	ids, logger := id.NewGenerator(time.Now, rand.Reader), slog.New(slog.DiscardHandler)
	sessions := session.New(f.client, tables, keys, time.Now, logger)
	accounts := account.New(account.Deps{
		DB: f.client, Tables: tables, Provider: provider, Clock: time.Now, Keys: keys, IDs: ids, Logger: logger,
		Limits: attempt.Limits{LoginPair: 10, LoginEmail: 100, LoginIP: 300, SignupIP: 100, OAuthIP: 60, CodeIP: 20},
	})
	outbox, cursors := event.Outbox{Events: f.tables["events"], IDs: ids}, db.NewCursors(keys)
	workspaces := workspace.New(workspace.Deps{
		DB: f.client, Projects: f.tables["projects"], Outbox: outbox, Cursors: cursors,
		People: user.NewStore(f.client, tables),
		IDs:    ids, Clock: time.Now, DisableWebhooks: revocation.Store{Webhooks: f.tables["webhooks"]}.Disable,
	})
	files := file.New(file.Deps{
		DB: f.client, Projects: f.tables["projects"], Contents: f.tables["contents"], Bucket: f.bucket,
		Outbox: outbox, Cursors: cursors,
		IDs: ids, Clock: time.Now, Quotas: file.DefaultQuotas(),
	})
	projects := project.New(project.Deps{
		DB: f.client, Projects: f.tables["projects"], Outbox: outbox, Cursors: cursors, Files: files,
		IDs: ids, Clock: time.Now, Logger: logger,
	})
	exports := export.New(export.Deps{ // without a queue: no sample starts an export of a project that exists
		DB: f.client, Projects: f.tables["projects"], Bucket: f.bucket, Clock: time.Now,
		HourlyLimit: export.DefaultHourlyLimit,
	})
	webhooks := webhook.New(webhook.Deps{ // without a queue: no sample sends a message to it
		DB: f.client, Webhooks: f.tables["webhooks"], Projects: f.tables["projects"], Keys: keys, Cursors: cursors,
		Sender: sender.New(sender.Options{Now: time.Now}), IDs: ids, Clock: time.Now, Logger: logger,
		Limits: webhook.DefaultLimits(),
	})
	ai := assistant.New(assistant.Deps{
		DB: f.client, Conversations: f.tables["conversations"], Projects: f.tables["projects"], Files: files,
		Cursors: cursors, IDs: ids, Clock: time.Now, Logger: logger, Model: scaffold.New(), Limits: assistant.DefaultLimits(),
	})
	documentation, err := docs.New(docs.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	f.functions = map[string]*apigateway.Handler{
		"AiFunction": apigateway.New(httpapi.NewRouter( // the deployed function streams the same responses
			httpapi.Config{Logger: logger, Auth: sessions, Clock: time.Now}, ai.Register)),
		"AuthFunction": apigateway.New(accounts.Router()),
		"DocsFunction": apigateway.New(httpapi.NewRouter( // the deployed function streams, like AiFunction
			httpapi.Config{Logger: logger, Clock: time.Now}, documentation.Register)),
		"ProjectsFunction": apigateway.New(httpapi.NewRouter(
			httpapi.Config{Logger: logger, Auth: sessions, Clock: time.Now},
			workspaces.Register, projects.Register, files.Register, exports.Register,
			deployment.New(f.deployments()).Register)),
		"SitesFunction": apigateway.New(f.site()), // the deployed function streams, like AiFunction
		"WebhookTestFunction": apigateway.New(httpapi.NewRouter(
			httpapi.Config{Logger: logger, Auth: sessions, Clock: time.Now}, webhooks.RegisterTest)),
		"WebhooksFunction": apigateway.New(httpapi.NewRouter(
			httpapi.Config{Logger: logger, Auth: sessions, Clock: time.Now}, webhooks.Register)),
	}
	return f
}
