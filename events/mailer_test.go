package events_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/go-json-experiment/json"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/mail"
	"devplatform/shared/mail/render"
	"devplatform/shared/mail/sender"
	"devplatform/shared/metric"
)

// mailRing is the key ring with which the mail of the sample is encrypted.
const mailRing = `{"current":"k1","k1":"a key that only the samples use 0123456789 0123456789"}`

// TestMailerSamples checks that mailer sends the mail of its sample, and stops mail to the addresses of the reports.
func TestMailerSamples(t *testing.T) {
	t.Parallel()
	sdk := dynamotest.Start(t)
	for _, table := range []string{"mail", "accounts"} {
		dynamotest.CreateTable(t, sdk, table, "pk", "sk")
	}
	var sent []string
	ses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Destination struct{ ToAddresses []string }
		}
		if err := json.UnmarshalRead(r.Body, &in); err != nil {
			t.Error(err)
		}
		sent = append(sent, in.Destination.ToAddresses...)
		_, _ = w.Write([]byte(`{"MessageId":"0100"}`))
	}))
	t.Cleanup(ses.Close)
	client, logger := db.Wrap(sdk, sampleTime), slog.New(slog.DiscardHandler)
	keys := config.NewKeys(func(context.Context) (string, error) { return mailRing, nil }, sampleTime)
	s, err := sender.New(sender.Deps{
		DB: client, Mails: client.Table("mail"), Accounts: client.Table("accounts"), Keys: keys, Clock: sampleTime,
		SES: sender.NewSES(config.AWS{
			Region: "us-east-1", AccessKeyID: "key", SecretAccessKey: "key", SESEndpoint: ses.URL,
		}),
		Logger: logger, Metrics: metric.New(logger, "", sampleTime),
		Settings: sender.Settings{
			From: "no-reply@example.com", PerHour: 10, Texts: render.Settings{AppURL: "https://app.example.com"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	handler := lambdafn.Stream(logger, s.Handle, nil).WithQueue(lambdafn.Queue(logger, s.HandleEvents))
	invoke := func(sample string) {
		t.Helper()
		response, err := handler.Invoke(t.Context(), read(t, sample+".json"))
		if err != nil || string(response) != `{"batchItemFailures":[]}` {
			t.Errorf("%s: got %s and the error %v, want no failures", sample, response, err)
		}
	}
	for i, record := range decodeStream(t, "mailer-mails").Records {
		pk, sk := record.Change.Keys["pk"].String(), record.Change.Keys["sk"].String()
		if key := db.MailKey(strings.TrimPrefix(pk, "MAIL#")); key != (db.Key{PK: pk, SK: sk}) {
			t.Errorf("record %d has the key %s, %s, want %v", i, pk, sk, key)
		}
		if _, err := client.Do(t.Context(), client.Table("mail").Put(db.Key{PK: pk, SK: sk}, nil)); err != nil {
			t.Fatal(err)
		}
	}
	invoke("mailer-mails")
	if fmt.Sprint(sent) != "[ada@example.com]" {
		t.Errorf("SES got mails to %v, want one to ada@example.com", sent)
	}
	var reports events.SQSEvent
	if err := json.Unmarshal(read(t, "mailer-reports.json"), &reports); err != nil || len(reports.Records) != 2 {
		t.Fatalf("mailer-reports: got %d messages, error %v, want 2", len(reports.Records), err)
	}
	invoke("mailer-reports")
	for _, address := range []string{"nobody@example.com", "grace@example.com"} {
		item, err := client.Table("accounts").Get(t.Context(), db.MailStateKey(address))
		if err != nil {
			t.Fatal(err)
		}
		if state, err := db.Decode[mail.AddressState](item); err != nil || state.UndeliverableSince == nil {
			t.Errorf("%s: got the state %+v and the error %v, want an address at which mail does not arrive", address, state, err)
		}
	}
}
