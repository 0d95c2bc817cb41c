package bedrock

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/go-json-experiment/json"

	"devplatform/infra/providertest"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/provider"
	"devplatform/shared/config"
)

const claude = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"

// fakeBedrock is a server with Bedrock's protocol: JSON requests, and event streams or JSON as responses.
type fakeBedrock struct{ *providertest.Server }

// serve starts a server that handles the n-th request, counted from 0, with handle.
func serve(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, n int)) *fakeBedrock {
	t.Helper()
	return &fakeBedrock{providertest.Serve(t, handle)}
}

// serveFrames starts a server that responds to every request with the frames.
func serveFrames(t *testing.T, frames ...[]byte) *fakeBedrock {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { writeFrames(w, frames...) })
}

// serveError starts a server that responds to every request with an error of Bedrock. header contains names and values.
func serveError(t *testing.T, status int, code, message string, header ...string) *fakeBedrock {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		writeError(w, status, code, message, header...)
	})
}

func writeFrames(w http.ResponseWriter, frames ...[]byte) {
	w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	for _, f := range frames {
		_, _ = w.Write(f)
		_ = http.NewResponseController(w).Flush()
	}
}

func writeError(w http.ResponseWriter, status int, code, message string, header ...string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-Errortype", code+":http://internal.amazon.com/coral/com.amazon.bedrock/")
	w.Header().Set("X-Amzn-Requestid", "req-1")
	for i := 0; i+1 < len(header); i += 2 {
		w.Header().Set(header[i], header[i+1])
	}
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, map[string]string{"message": message})
}

// provider returns a provider for the server, without backoff and with very long timeouts.
func (s *fakeBedrock) provider(name string) *Provider {
	p := New(Options{
		AWS: config.AWS{
			Region:          "eu-central-1",
			AccessKeyID:     "AKIDEXAMPLE",
			SecretAccessKey: "wJalrXUtnFEMI",
			SessionToken:    "FwoGZXIvYXdz",
			BedrockEndpoint: s.URL,
		},
		Model: name,
	})
	p.waits = provider.Waits{
		Backoff: func(int) time.Duration { return 0 }, Window: time.Hour, Usage: time.Hour, Close: time.Hour,
	}
	return p
}

// frame returns one message of an event stream. headers contains names and values.
func frame(payload string, headers ...string) []byte {
	var m eventstream.Message
	for i := 0; i+1 < len(headers); i += 2 {
		m.Headers.Set(headers[i], eventstream.StringValue(headers[i+1]))
	}
	m.Payload = []byte(payload)
	var out bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&out, m); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func event(kind, payload string) []byte {
	return frame(payload, ":message-type", "event", ":event-type", kind, ":content-type", "application/json")
}

func exception(kind, message string) []byte {
	payload := fmt.Sprintf(`{"message":%s}`, quote(message))
	return frame(payload,
		":message-type", "exception", ":exception-type", kind, ":content-type", "application/json")
}

// quote returns a text as a JSON string.
func quote(s string) string {
	out, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(out)
}

func messageStart() []byte { return event("messageStart", `{"p":"abcdef","role":"assistant"}`) }

func textDelta(block int, s string) []byte {
	payload := fmt.Sprintf(`{"contentBlockIndex":%d,"delta":{"text":%s},"p":"abcd"}`, block, quote(s))
	return event("contentBlockDelta", payload)
}

func toolStart(block int, id, name string) []byte {
	payload := fmt.Sprintf(`{"contentBlockIndex":%d,"start":{"toolUse":{"name":%s,"toolUseId":%s}}}`,
		block, quote(name), quote(id))
	return event("contentBlockStart", payload)
}

func toolDelta(block int, s string) []byte {
	payload := fmt.Sprintf(`{"contentBlockIndex":%d,"delta":{"toolUse":{"input":%s}}}`, block, quote(s))
	return event("contentBlockDelta", payload)
}

func blockStop(block int) []byte {
	return event("contentBlockStop", fmt.Sprintf(`{"contentBlockIndex":%d}`, block))
}

func messageStop(reason string) []byte {
	return event("messageStop", fmt.Sprintf(`{"stopReason":%s}`, quote(reason)))
}

// metadata returns the event with the usage: the numbers of tokens of the input and the output, and of tokens read from
// and written to the cache. The provider does not use cacheReadInputTokenCount.
func metadata(in, out, read, write int) []byte {
	payload := fmt.Sprintf(`{"metrics":{"latencyMs":12},"usage":{"cacheReadInputTokenCount":1,`+
		`"cacheReadInputTokens":%d,"cacheWriteInputTokens":%d,"inputTokens":%d,"outputTokens":%d,`+
		`"serverToolUsage":{},"totalTokens":%d}}`, read, write, in, out, in+out+read+write)
	return event("metadata", payload)
}

func chatRequest() model.Request {
	return model.Request{
		Task: model.TaskChat, System: "Be brief.", MaxOutput: 100,
		Messages: []model.Message{{Role: model.User, Text: "hello"}},
	}
}

// generate requests an answer to chatRequest.
func generate(t *testing.T, p *Provider) (providertest.Answer, model.Outcome, error) {
	t.Helper()
	return generateFor(t.Context(), t, p, chatRequest())
}

func generateFor(
	ctx context.Context, t *testing.T, p *Provider, r model.Request,
) (providertest.Answer, model.Outcome, error) {
	t.Helper()
	var got providertest.Answer
	outcome, err := p.Generate(ctx, r, got.Emit)
	got.Check(t, err)
	return got, outcome, err
}

// multibyteText returns text of about n bytes, with characters of several bytes.
func multibyteText(n int) string {
	const line = "Grüße, \"Welt\"\n"
	return strings.Repeat(line, n/len(line))
}
