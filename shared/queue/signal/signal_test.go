package signal_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"devplatform/infra/local/sqs/sqstest"
	"devplatform/shared/awsclient"
	"devplatform/shared/config"
	"devplatform/shared/queue/signal"
	"devplatform/shared/retry"
)

// proxy forwards requests to SQS. respond can respond to a call instead, by its number from 1.
func proxy(
	t *testing.T, endpoint string, respond func(w http.ResponseWriter, call int) bool,
) (cfg config.AWS, calls *int) {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	calls = new(int)
	next := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*calls++
		signature := r.Header.Get("Authorization")
		for _, part := range []string{"Credential=key/", "/eu-central-1/sqs/aws4_request", "x-amz-security-token"} {
			if !strings.Contains(signature, part) {
				t.Errorf("got the signature %s, want one with %s", signature, part)
			}
		}
		if !respond(w, *calls) {
			next.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return config.AWS{
		Region: "eu-central-1", AccessKeyID: "key", SecretAccessKey: "secret", SessionToken: "token", SQSEndpoint: server.URL,
	}, calls
}

// A message reaches the queue, even if the first attempts fail.
func TestSend(t *testing.T) {
	t.Parallel()
	client := sqstest.Start(t)
	queueURL := sqstest.CreateQueue(t, client, "signals", nil)
	cfg, calls := proxy(t, *client.Options().BaseEndpoint, func(w http.ResponseWriter, call int) bool {
		switch call {
		case 1:
			panic(http.ErrAbortHandler)
		case 2:
			w.WriteHeader(http.StatusInternalServerError)
		}
		return call < 3
	})
	const body = "{\"é\":\"\\n\"}\n"
	if err := signal.New(cfg, queueURL, time.Now).Send(t.Context(), body, "usr_1"); err != nil || *calls != 3 {
		t.Fatalf("got error %v after %d calls, want success after 3", err, *calls)
	}
	out, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &queueURL, MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
	})
	if err != nil || len(out.Messages) != 1 || *out.Messages[0].Body != body ||
		out.Messages[0].Attributes["MessageGroupId"] != "usr_1" {
		t.Errorf("got %+v, error %v, want the message in its group", out, err)
	}
}

// Without an endpoint of its own, a queue is at the host of its URL. A queue that does not exist is an error.
func TestErrors(t *testing.T) {
	t.Parallel()
	client := sqstest.Start(t)
	cfg := config.AWS{Region: "eu-central-1", AccessKeyID: "key", SecretAccessKey: "secret"}
	missing := *client.Options().BaseEndpoint + "/000000000000/missing"
	err := signal.New(cfg, missing, time.Now).Send(t.Context(), "x", "y")
	if err == nil || !strings.Contains(err.Error(), "QueueDoesNotExist") {
		t.Errorf("got error %v, want one of SQS", err)
	}
	cfg, calls := proxy(t, *client.Options().BaseEndpoint, func(w http.ResponseWriter, _ int) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	err = signal.New(cfg, missing, time.Now).Send(t.Context(), "x", "y")
	if err == nil || *calls != awsclient.MaxAttempts {
		t.Errorf("got error %v after %d calls, want an error after %d", err, *calls, awsclient.MaxAttempts)
	}
	*calls = 0
	budget := retry.WithBudget(t.Context(), 1, time.Minute)
	if err := signal.New(cfg, missing, time.Now).Send(budget, "x", "y"); err == nil || *calls != 2 {
		t.Errorf("one retry is left: got error %v after %d calls, want an error after 2", err, *calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := signal.New(cfg, missing, time.Now).Send(ctx, "x", "y"); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want the error of the context", err)
	}
}
