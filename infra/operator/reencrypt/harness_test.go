package reencrypt

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"devplatform/infra/functiontest"
	"devplatform/infra/hooktest"
	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/local/secrets"
	"devplatform/infra/slicetest"
	"devplatform/shared/account"
	"devplatform/shared/account/attempt"
	accountpassword "devplatform/shared/account/password"
	"devplatform/shared/account/session"
	"devplatform/shared/async"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/webhook"
	"devplatform/shared/webhook/delivery"
	"devplatform/shared/webhook/sender"
)

// The keys of the rings in the tests.
const (
	key1 = "the first key of the ring, and of nothing else 0123456789"
	key2 = "the second key of the ring, and of nothing else 9876543210"
)

const (
	oldRing     = `{"current":"k1","k1":"` + key1 + `"}`
	addedRing   = `{"current":"k1","k1":"` + key1 + `","k2":"` + key2 + `"}`
	newRing     = `{"current":"k2","k1":"` + key1 + `","k2":"` + key2 + `"}`
	leakedRing  = `{"current":"k2","k1":"` + key1 + `","k2":"` + key2 + `","decryptOnly":["k1"]}`
	removedRing = `{"current":"k2","k2":"` + key2 + `"}`
)

const (
	ringName = "keys"
	password = "correct horse battery"
	secret   = "the secret of the webhook"
)

// service is a service with several running instances, whose clock the test moves.
type service struct {
	t         *testing.T
	clock     *slicetest.Clock
	log       *slicetest.Log
	sdk       *dynamodb.Client
	tables    config.Tables
	webhooks  string // the name of the table
	aws       config.AWS
	manager   *secretsmanager.Client
	reads     atomic.Int64 // of secrets
	receiver  *hooktest.Receiver
	instances []*httptest.Server
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{
		t: t, clock: slicetest.NewClock(time.Now(), 0), log: slicetest.NewLog(), receiver: hooktest.New(t),
		sdk: dynamotest.Client(dynamotest.StartServer(t)),
	}
	s.tables = config.Tables{
		Accounts: slicetest.Table(t, s.sdk, "accounts"), Projects: slicetest.Table(t, s.sdk, "projects"),
	}
	s.webhooks = "webhooks-" + strings.ToLower(rand.Text())
	functiontest.CreateWebhooksTable(t, s.sdk, s.webhooks)
	store, err := secrets.Open(secrets.Options{Now: s.clock.Now})
	s.must(err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetSecretValue") {
			s.reads.Add(1)
		}
		store.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.aws = config.AWS{Region: "us-east-1", AccessKeyID: "id", SecretAccessKey: "key", Endpoint: server.URL}
	s.manager = secretsmanager.New(secretsmanager.Options{
		Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""),
	})
	_, err = s.manager.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{
		Name: aws.String(ringName), SecretString: aws.String(oldRing),
	})
	s.must(err)
	for range 3 {
		s.instances = append(s.instances, s.newInstance())
	}
	return s
}

func (s *service) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// newInstance returns an instance of the functions auth, webhooks and webhook-test, which reads the key ring itself.
func (s *service) newInstance() *httptest.Server {
	logger, client := slog.New(s.log), db.Wrap(s.sdk, s.clock.Now)
	keys := config.NewSecrets(s.aws, config.Metrics{}, s.clock.Now, logger).Keys(ringName)
	ids, edge := id.NewGenerator(s.clock.Now, rand.Reader), config.Edge{CookiePlainHTTP: true}
	accounts := account.New(account.Deps{
		DB: client, Tables: s.tables, Keys: keys, IDs: ids, Clock: s.clock.Now, Logger: logger, Edge: edge,
		Hasher: accountpassword.NewHasher(accountpassword.HashParams{MemoryKiB: 64, Time: 1, Threads: 1, SaltBytes: 16, KeyBytes: 32}, 4),
		Limits: attempt.Limits{LoginPair: 1000, LoginEmail: 1000, LoginIP: 1000, SignupIP: 1000, OAuthIP: 1000, CodeIP: 1000},
	})
	webhooks := webhook.New(webhook.Deps{
		DB: client, Webhooks: client.Table(s.webhooks), Projects: client.Table(s.tables.Projects), Keys: keys,
		Cursors: db.NewCursors(keys), IDs: ids, Clock: s.clock.Now, Logger: logger, Limits: webhook.DefaultLimits(),
		Sender: sender.New(sender.Options{AllowPrivate: true, Now: s.clock.Now}), AllowPrivate: true,
	})
	mux := http.NewServeMux()
	mux.Handle("/api/auth/", accounts.Router())
	mux.Handle("/", httpapi.NewRouter(httpapi.Config{
		Edge: edge, Logger: logger, Clock: s.clock.Now,
		Auth: session.New(client, s.tables, keys, s.clock.Now, logger),
	}, webhooks.Register, webhooks.RegisterTest))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, wait := async.WithInvocation(r.Context())
		mux.ServeHTTP(w, r.WithContext(ctx))
		wait()
	}))
	s.t.Cleanup(server.Close)
	return server
}

// put replaces the key ring.
func (s *service) put(ring string) {
	s.t.Helper()
	_, err := s.manager.PutSecretValue(s.t.Context(), &secretsmanager.PutSecretValueInput{
		SecretId: aws.String(ringName), SecretString: &ring,
	})
	s.must(err)
}

// client returns a client of an instance, with a session.
func (s *service) client(instance int, session string) *slicetest.Client {
	c := slicetest.NewClient(s.t, s.instances[instance].URL, s.log)
	if session != "" {
		c.SetCookie("session", session)
	}
	return c
}

// signUp creates a user and returns the token of a session.
func (s *service) signUp(name string) (session string) {
	s.t.Helper()
	s.client(0, "").Do("POST", "/api/auth/signup", map[string]any{"email": name + "@example.com", "username": name, "password": password}).
		Want(s.t, http.StatusCreated)
	return s.logIn(0, name)
}

// logIn logs the user in at an instance and returns the token of the session.
func (s *service) logIn(instance int, name string) (session string) {
	s.t.Helper()
	c := s.client(instance, "")
	c.Do("POST", "/api/auth/login", map[string]any{"email": name + "@example.com", "password": password}).
		Want(s.t, http.StatusOK)
	return c.Cookie("session")
}

// subscribe creates a webhook and returns its ID.
func (s *service) subscribe(session, path string) (webhookID string) {
	s.t.Helper()
	return s.client(0, session).Do("POST", "/api/webhooks", map[string]any{
		"url": s.receiver.URL(path), "events": []string{"*"}, "secret": secret,
	}).Want(s.t, http.StatusCreated).Text("id")
}

// wantSession checks that every instance accepts the session, or that every instance rejects it.
func (s *service) wantSession(session string, accepted bool) {
	s.t.Helper()
	status := map[bool]int{true: http.StatusOK, false: http.StatusUnauthorized}[accepted]
	for i := range s.instances {
		s.client(i, session).Get("/api/auth/me").Want(s.t, status)
		s.client(i, session).Get("/api/webhooks").Want(s.t, status)
	}
}

// wantDelivery checks that every instance sends an event to the webhook, with valid signatures.
func (s *service) wantDelivery(session, webhookID, path string) {
	s.t.Helper()
	for i := range s.instances {
		n := len(s.receiver.To(path))
		s.client(i, session).Do("POST", "/api/webhooks/"+webhookID+"/test", nil).Want(s.t, http.StatusOK)
		requests := s.receiver.To(path)
		if len(requests) != n+1 {
			s.t.Fatalf("instance %d sent %d events, want 1", i, len(requests)-n)
		}
		if err := requests[n].Verify(secret); err != nil {
			s.t.Errorf("instance %d: %v", i, err)
		}
	}
}

// wait moves the clock. In each minute, every instance signs a session of the user ada.
func (s *service) wait(minutes int) {
	s.t.Helper()
	for range minutes {
		s.clock.Advance(time.Minute)
		for i := range s.instances {
			s.logIn(i, "ada")
		}
	}
}

// command returns the command with a key ring of its own, as a new process has it.
func (s *service) command() Command {
	client := db.Wrap(s.sdk, s.clock.Now)
	keys := config.NewSecrets(s.aws, config.Metrics{}, s.clock.Now, slog.New(s.log)).Keys(ringName)
	return Command{
		SDK: s.sdk, Table: s.webhooks, Client: client,
		Secrets: delivery.Secrets{Keys: keys}, Clock: s.clock.Now,
	}
}

// reencrypt runs the command and returns its output, and the error of its result.
func (s *service) reencrypt(ctx context.Context) (string, error) {
	s.t.Helper()
	r, err := s.command().Run(ctx)
	s.must(err)
	var out strings.Builder
	err = r.Print(&out)
	return out.String(), err
}
