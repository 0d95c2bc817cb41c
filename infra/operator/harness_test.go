package main

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/secrets"
	"devplatform/infra/operator/audit"
	"devplatform/infra/slicetest"
	"devplatform/shared/account"
	"devplatform/shared/account/attempt"
	"devplatform/shared/account/password"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/mail"
)

const (
	ring         = "keys"
	goodPassword = "correct horse battery"
)

// fixture is the service of accounts, and the command with its tables.
type fixture struct {
	t        *testing.T
	clock    *slicetest.Clock
	log      *slicetest.Log
	sdk      *dynamodb.Client
	settings settings
	server   *httptest.Server
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	endpoint := dynamotest.StartServer(t)
	f := &fixture{
		t: t, clock: slicetest.NewClock(time.Date(2031, 5, 5, 10, 5, 0, 0, time.UTC), time.Millisecond),
		log: slicetest.NewLog(), sdk: dynamotest.Client(endpoint),
	}
	store, err := secrets.Open(secrets.Options{Now: f.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	manager := httptest.NewServer(store)
	t.Cleanup(manager.Close)
	_, err = secretsmanager.New(secretsmanager.Options{
		Region: "us-east-1", BaseEndpoint: &manager.URL, Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
	}).CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{
		Name: aws.String(ring), SecretString: aws.String(`{"current":"k1","k1":"a key for tests, and for nothing else 0123456789"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	f.settings = settings{
		AWS: config.AWS{
			Region: "us-east-1", AccessKeyID: "id", SecretAccessKey: "key", Endpoint: manager.URL, DynamoDBEndpoint: endpoint,
		},
		Accounts: slicetest.Table(t, f.sdk, "accounts"), Projects: slicetest.Table(t, f.sdk, "projects"),
		Mails: slicetest.Table(t, f.sdk, "mail"), Conversations: slicetest.Table(t, f.sdk, "conversations"),
		Webhooks: slicetest.Table(t, f.sdk, "webhooks"), Sites: slicetest.Table(t, f.sdk, "sites"),
		Audit: "audit-" + strings.ToLower(rand.Text()), Keys: ring, Mail: mail.Settings{From: "no-reply@example.com"},
	}
	f.createAuditTable()
	client := db.Wrap(f.sdk, f.clock.Now)
	accounts := account.New(account.Deps{
		DB: client, Tables: f.tables(), IDs: id.NewGenerator(f.clock.Now, rand.Reader), Clock: f.clock.Now,
		Keys:   config.NewSecrets(f.settings.AWS, config.Metrics{}, f.clock.Now, slog.New(f.log)).Keys(ring),
		Logger: slog.New(f.log), Edge: config.Edge{CookiePlainHTTP: true}, Mail: f.settings.Mail,
		Limits: attempt.Limits{LoginPair: 1000, LoginEmail: 1000, LoginIP: 1000, SignupIP: 1000, OAuthIP: 1000, CodeIP: 1000},
		Hasher: password.NewHasher(password.HashParams{MemoryKiB: 8, Time: 1, Threads: 1, SaltBytes: 16, KeyBytes: 32}, 4),
	})
	f.server = httptest.NewServer(accounts.Router())
	t.Cleanup(f.server.Close)
	return f
}

func (f *fixture) tables() config.Tables {
	return config.Tables{Accounts: f.settings.Accounts, Projects: f.settings.Projects, Mail: f.settings.Mails}
}

// createAuditTable creates the table with the index of the template.
func (f *fixture) createAuditTable() {
	f.t.Helper()
	key := func(hash, sort string) []types.KeySchemaElement {
		return []types.KeySchemaElement{
			{AttributeName: &hash, KeyType: types.KeyTypeHash}, {AttributeName: &sort, KeyType: types.KeyTypeRange},
		}
	}
	var attributes []types.AttributeDefinition
	for _, name := range []string{"pk", "sk", "target", "id"} {
		attributes = append(attributes, types.AttributeDefinition{
			AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS,
		})
	}
	_, err := f.sdk.CreateTable(f.t.Context(), &dynamodb.CreateTableInput{
		TableName: &f.settings.Audit, BillingMode: types.BillingModePayPerRequest, AttributeDefinitions: attributes,
		KeySchema: key("pk", "sk"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("target"), KeySchema: key("target", "id"),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}},
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// operator runs the command without a terminal.
func (f *fixture) operator(arguments ...string) (string, error) {
	return f.operatorAt(false, "", arguments...)
}

// operatorAt runs the command. A person at the terminal types the input.
func (f *fixture) operatorAt(isTerminal bool, input string, arguments ...string) (string, error) {
	var out strings.Builder
	o := newOperator(f.settings, audit.Operator{ID: "local:linus", Name: "linus"}, f.clock.Now,
		streams{in: strings.NewReader(input), isTerminal: isTerminal, out: &out})
	err := o.run(f.t.Context(), arguments)
	return out.String(), err
}

// must runs the command without a terminal, and returns its output.
func (f *fixture) must(arguments ...string) string {
	f.t.Helper()
	out, err := f.operator(arguments...)
	if err != nil {
		f.t.Fatalf("%v: %v\n%s", arguments, err, out)
	}
	return out
}

// dump returns the items of all tables.
func (f *fixture) dump() map[string]map[db.Key]db.Item {
	f.t.Helper()
	all := map[string]map[db.Key]db.Item{}
	for _, table := range []string{
		f.settings.Accounts, f.settings.Projects, f.settings.Mails, f.settings.Sites, f.settings.Audit,
	} {
		all[table] = slicetest.Dump(f.t, f.sdk, table)
	}
	return all
}

// signUp creates an account and returns its user ID.
func (f *fixture) signUp(name string) (userID string) {
	f.t.Helper()
	return slicetest.NewClient(f.t, f.server.URL, f.log).Do(http.MethodPost, "/api/auth/signup", map[string]string{
		"email": name + "@example.com", "username": name, "password": goodPassword,
	}).Want(f.t, http.StatusCreated).Text("userId")
}

func (f *fixture) logIn(name string) slicetest.Response {
	f.t.Helper()
	return slicetest.NewClient(f.t, f.server.URL, f.log).Do(http.MethodPost, "/api/auth/login", map[string]string{
		"email": name + "@example.com", "password": goodPassword,
	})
}
