package sender_test

import (
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
	"devplatform/shared/mail"
	"devplatform/shared/mail/render"
	"devplatform/shared/mail/sender"
	"devplatform/shared/metric"
)

// fakeSES serves the two calls of SES that the sender makes, over HTTP.
type fakeSES struct {
	mu     sync.Mutex
	mails  []fakeMail // that were accepted
	calls  []string   // "send ADDRESS" and "unsuppress ADDRESS", including calls that failed
	status int        // of the responses; 0 means 200
	code   string     // of the error
	// rejected is an address that SES does not remove from its suppression list.
	rejected string
}

// fakeMail is the part of a request that the tests need.
type fakeMail struct {
	FromEmailAddress, ConfigurationSetName string
	Destination                            struct{ ToAddresses []string }
	EmailTags                              []struct{ Name, Value string }
	Content                                struct {
		Simple struct {
			Subject struct{ Data, Charset string }
			Body    struct {
				Text, HTML struct{ Data, Charset string }
			}
		}
	}
}

func (s *fakeSES) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	address, isSuppression := strings.CutPrefix(r.URL.Path, "/v2/email/suppression/addresses/")
	if isSuppression {
		address, _ = url.PathUnescape(address)
		s.calls = append(s.calls, "unsuppress "+address)
		if address == s.rejected {
			w.Header().Set("X-Amzn-Errortype", "BadRequestException")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"message":"not an address"}`))
			return
		}
		w.Header().Set("X-Amzn-Errortype", "NotFoundException")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"message":"not suppressed"}`))
		return
	}
	var m fakeMail
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil || r.URL.Path != "/v2/email/outbound-emails" {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	s.calls = append(s.calls, "send "+strings.Join(m.Destination.ToAddresses, ","))
	if s.status != 0 {
		w.Header().Set("X-Amzn-Errortype", s.code)
		w.WriteHeader(s.status)
		_, _ = w.Write([]byte(`{"message":"of a test"}`))
		return
	}
	s.mails = append(s.mails, m)
	_, _ = w.Write([]byte(`{"MessageId":"0100-of-ses"}`))
}

// fail makes all further requests to send a mail fail. Status 0 makes them succeed again.
func (s *fakeSES) fail(status int, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.code = status, code
}

// sent returns the addresses of the mails that were accepted.
func (s *fakeSES) sent() (to []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.mails {
		to = append(to, m.Destination.ToAddresses...)
	}
	return to
}

const from = "no-reply@example.com"

var startTime = time.Date(2031, 5, 5, 10, 5, 0, 0, time.UTC)

// fixture is a sender with its tables and a fake SES.
type fixture struct {
	t        *testing.T
	clock    *slicetest.Clock
	endpoint string // of DynamoDB
	sdk      *dynamodb.Client
	tables   config.Tables
	keys     *config.Keys
	outbox   *mail.Outbox
	ses      *fakeSES
	sesURL   string
	log      *slicetest.Log
	sender   *sender.Sender
}

func newFixture(t *testing.T, perHour int) *fixture {
	t.Helper()
	f := &fixture{
		t: t, clock: slicetest.NewClock(startTime, 0), endpoint: dynamotest.StartServer(t), ses: &fakeSES{},
		log: slicetest.NewLog(),
	}
	f.sdk = dynamotest.Client(f.endpoint)
	server := httptest.NewServer(f.ses)
	t.Cleanup(server.Close)
	f.sesURL, f.keys = server.URL, slicetest.Keys(f.clock.Now)
	f.tables = config.Tables{Accounts: slicetest.Table(t, f.sdk, "accounts"), Mail: slicetest.Table(t, f.sdk, "mail")}
	ids := id.NewGenerator(f.clock.Now, rand.Reader)
	f.outbox = mail.NewOutbox(f.client(nil), f.tables, f.keys, ids, f.clock.Now, mail.Settings{From: from})
	f.sender = f.newSender(perHour, nil)
	return f
}

// client returns a client of the tables. p is the process that makes the calls, nil for a process that is never killed.
func (f *fixture) client(p *slicetest.Process) *db.Client {
	if p == nil {
		return db.Wrap(f.sdk, f.clock.Now)
	}
	return db.Wrap(dynamotest.Client(f.endpoint, func(o *dynamodb.Options) {
		o.HTTPClient, o.Retryer = p, aws.NopRetryer{}
	}), f.clock.Now)
}

// newSender returns a sender as a new instance of the function has it.
func (f *fixture) newSender(perHour int, p *slicetest.Process) *sender.Sender {
	f.t.Helper()
	options := sesv2.Options{
		Region: "us-east-1", BaseEndpoint: &f.sesURL, Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	}
	if p != nil {
		options.HTTPClient = p
	}
	client := f.client(p)
	s, err := sender.New(sender.Deps{
		DB: client, SES: sesv2.New(options), Mails: client.Table(f.tables.Mail), Accounts: client.Table(f.tables.Accounts),
		Keys: f.keys, Clock: f.clock.Now, Logger: slog.New(f.log),
		Metrics: metric.New(slog.New(slog.NewJSONHandler(f.log, nil)), "test", f.clock.Now),
		Settings: sender.Settings{
			From: from, ConfigurationSet: "set", PerHour: perHour,
			Texts: render.Settings{Name: "Acme", AppURL: "https://app.example.com"},
		},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

func message(to string) mail.Message {
	return mail.Message{
		Kind: mail.Reset, To: to, UserID: "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK", Username: "ada", Token: "the-token",
		Code: "7K3M9PQR", ExpiresAt: startTime.Add(30 * time.Minute),
	}
}

// write stores a mail and returns its record of the stream.
func (f *fixture) write(m mail.Message) lambdafn.StreamRecord {
	f.t.Helper()
	w, err := f.outbox.Write(f.t.Context(), m)
	if err != nil {
		f.t.Fatal(err)
	}
	before := slicetest.Dump(f.t, f.sdk, f.tables.Mail)
	if err := f.client(nil).Tx(w).Commit(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	for key, item := range slicetest.Dump(f.t, f.sdk, f.tables.Mail) {
		if before[key] == nil {
			return lambdafn.StreamRecord{SequenceNumber: "1", EventName: "INSERT", NewImage: item, At: startTime}
		}
	}
	f.t.Fatal("the mail was not stored")
	return lambdafn.StreamRecord{}
}

// handle handles a record without an error.
func (f *fixture) handle(r lambdafn.StreamRecord) {
	f.t.Helper()
	if err := f.sender.Handle(f.t.Context(), r); err != nil {
		f.t.Fatal(err)
	}
}
