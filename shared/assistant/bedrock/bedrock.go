// Package bedrock is the model provider for models on Amazon Bedrock. It translates between package model and
// Bedrock's Converse API: requests, answers, stream events and errors. Projects and prompts do not belong here. The
// features that a model rejects are in traits.go.
//
// Chats and generated code are streamed (ConverseStream). Summaries are not (Converse), because they are not shown to
// users.
package bedrock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/schemas"
	"github.com/aws/smithy-go/transport/http/protocol/restjson1"

	"devplatform/shared/assistant/model"
	"devplatform/shared/awsclient"
	"devplatform/shared/config"
	"devplatform/shared/retry"
)

// Limits of the retries of an answer that has not begun. For the user, a quick error is better than a slow one, and
// longer retries do not help, because Bedrock's quotas are per minute.
const (
	maxAttempts = 3
	retryWindow = 1200 * time.Millisecond // no backoff begins after this time
)

// Limits of the waits after the end of the message: usageWait for the event with the usage, and then closeWait for the
// end of the stream. The connection can be reused only after the end of the stream.
const (
	usageWait = 5 * time.Second
	closeWait = 100 * time.Millisecond
)

// Options select the model and the endpoint.
type Options struct {
	// AWS contains the credentials and the region. BedrockEndpoint replaces the endpoint of AWS.
	AWS config.AWS
	// Model is the ID or the ARN of a model or of an inference profile.
	Model string
}

// Provider generates answers with one model. It is safe for concurrent use.
type Provider struct {
	model  string
	client func() *bedrockruntime.Client
	redact func(string) string
	// rejectsCaching is set after the model has rejected cache points.
	rejectsCaching atomic.Bool

	// Tests change these values.
	backoff              func(attempt int) time.Duration
	window               time.Duration
	usageWait, closeWait time.Duration
}

var _ model.Provider = (*Provider)(nil)

// New returns a provider. The client is created by the first call, to keep the cold start short.
func New(o Options) *Provider {
	return &Provider{
		model:     o.Model,
		client:    sync.OnceValue(func() *bedrockruntime.Client { return newClient(o) }),
		redact:    redactor(o.AWS),
		backoff:   func(attempt int) time.Duration { return 10 * retry.Jitter(attempt) },
		window:    retryWindow,
		usageWait: usageWait, closeWait: closeWait,
	}
}

func newClient(o Options) *bedrockruntime.Client {
	client := awsclient.SlowHTTP()
	client.Transport = limitedBodies{client.Transport}
	return bedrockruntime.New(bedrockruntime.Options{
		Region:       o.AWS.Region,
		Credentials:  awsclient.Credentials(o.AWS),
		BaseEndpoint: awsclient.Endpoint(o.AWS.BedrockEndpoint, ""),
		HTTPClient:   client,
		// Generate retries itself, because the SDK does not retry a stream that ends before its first event.
		Retryer: aws.NopRetryer{},
	}, func(o *bedrockruntime.Options) {
		// Otherwise the SDK would use a bearer token in AWS_BEARER_TOKEN_BEDROCK instead of the function's role.
		o.BearerAuthTokenProvider, o.AuthSchemePreference = nil, nil
	})
}

// withOwnDecoder sets a decoder of events that only this call uses. The client's decoder is shared by all calls and is
// not safe for concurrent streams.
func withOwnDecoder(o *bedrockruntime.Options) {
	o.Protocol = restjson1.New(schemas.AmazonBedrockFrontendService)
}

// Generate implements model.Provider. If an answer fails before its first event, Generate retries up to two times
// within two seconds. After the first event it does not retry, because the client may have received a part of the
// answer.
func (p *Provider) Generate(ctx context.Context, r model.Request, emit func(model.Part) error) (model.Outcome, error) {
	window, cancel := context.WithTimeout(ctx, p.window)
	defer cancel()
	var outcome model.Outcome
	var err error
	for range retry.Attempts(window, maxAttempts, p.backoff) {
		a := newAnswer(p.model, emit)
		t := p.traits()
		if err = p.attempt(ctx, r, t, a); err != nil && !a.hasBegun && t.caches() && rejectsCaching(err) {
			p.rejectsCaching.Store(true)
			a = newAnswer(p.model, emit)
			err = p.attempt(ctx, r, p.traits(), a)
		}
		if outcome = a.outcome; err == nil || a.hasBegun || !isRetryable(err) {
			return outcome, err
		}
	}
	if ctx.Err() != nil {
		return outcome, contextError(ctx)
	}
	return outcome, err
}

func (p *Provider) attempt(ctx context.Context, r model.Request, t traits, a *answer) error {
	if r.Task == model.TaskSummarize {
		return p.converse(ctx, r, t, a)
	}
	return p.stream(ctx, r, t, a)
}

// traits returns the features of the model, except those that it has rejected.
func (p *Provider) traits() traits {
	t := traitsOf(p.model)
	if p.rejectsCaching.Load() {
		t.cacheSystem, t.cacheTools = false, false
	}
	return t
}

// isRetryable reports whether another attempt may succeed soon. It returns false if the response requested a wait.
func isRetryable(err error) bool {
	var failed *model.Error
	return errors.As(err, &failed) && failed.Fault == model.Unavailable && failed.RetryAfter == 0
}

func contextError(ctx context.Context) error { return fmt.Errorf("bedrock: %w", ctx.Err()) }
