package awshttp

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// slowWriter is a connection whose Write returns late, when the other side has already read the bytes.
type slowWriter struct{ net.Conn }

func (c slowWriter) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	time.Sleep(20 * time.Millisecond)
	return n, err
}

// slowly makes the connections of a transport return late from Write.
func slowly(t *http.Transport) {
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		return slowWriter{c}, err
	}
}

// The service responds while net/http is still looking for the end of the request, and the response takes a while.
func TestResponseArrivesWhileRequestIsWritten(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = io.WriteString(w, `{"Messages":`)
		_ = http.NewResponseController(w).Flush()
		time.Sleep(100 * time.Millisecond)
		_, _ = fmt.Fprintf(w, `[{"MessageId":%q}]}`, strings.Repeat("x", 20_000))
	}))
	t.Cleanup(server.Close)
	client := New()
	slowly(client.Transport.(plainBodies).Transport)
	queues := sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: &server.URL, HTTPClient: client, Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""), DisableMessageChecksumValidation: true,
	})
	for range 3 {
		out, err := queues.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(server.URL + "/queue")})
		if err != nil || len(out.Messages) != 1 || len(*out.Messages[0].MessageId) != 20_000 {
			t.Errorf("the response was lost: %v", err)
		}
	}
	response, err := client.Get(server.URL)
	if err != nil {
		t.Fatalf("without a body: %v", err)
	}
	_ = response.Body.Close()
}
