// Package bedrock is the model provider that asks a model on Amazon Bedrock: it puts a request into the words of Bedrock's Converse
// API, and its answer, events and errors into those of package model. Projects, prompts and what becomes of an answer are not known
// here, nor is any one model, but for what some of them refuse (traits.go).
//
// Chats and generated code stream (ConverseStream). Summaries are asked for in one piece (Converse): nobody watches them.
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
)

// How often, and until when, an answer that has not begun is asked for again. Who waits would rather have a quick 503 than a slow one,
// and the quotas that throttle are counted in minutes.
const (
	maxAttempts = 3
	retryWindow = 1200 * time.Millisecond // from the first attempt's beginning to the last one's, but for one wait
)

// usageWait is how long a complete answer waits for the event that counts its tokens; closeWait, how long it then waits for the
// stream's end, after which the connection can be used again.
const (
	usageWait = 5 * time.Second
	closeWait = 100 * time.Millisecond
)

// Options say which model answers, and where.
type Options struct {
	// AWS has the credentials, the region, and as BedrockEndpoint the endpoint if it is not AWS's own.
	AWS config.AWS
	// Model is the id or ARN of a model or an inference profile.
	Model string
}

// Provider asks one model. It is safe for concurrent use.
type Provider struct {
	model  string
	client func() *bedrockruntime.Client
	redact func(string) string
	// uncached is set once the model has refused cache points.
	uncached atomic.Bool

	backoff              func(attempt int) time.Duration
	window               time.Duration
	usageWait, closeWait time.Duration
}

var _ model.Provider = (*Provider)(nil)

// New makes the provider. The client is built at the first call: most starts of the function that has it serve something else.
func New(o Options) *Provider {
	return &Provider{
		model:     o.Model,
		client:    sync.OnceValue(func() *bedrockruntime.Client { return newClient(o) }),
		redact:    redactor(o.AWS),
		backoff:   func(attempt int) time.Duration { return 10 * awsclient.Jitter(attempt) },
		window:    retryWindow,
		usageWait: usageWait, closeWait: closeWait,
	}
}

func newClient(o Options) *bedrockruntime.Client {
	return bedrockruntime.New(bedrockruntime.Options{
		Region:       o.AWS.Region,
		Credentials:  awsclient.Credentials(o.AWS),
		BaseEndpoint: awsclient.Endpoint(o.AWS.BedrockEndpoint, ""),
		HTTPClient:   awsclient.SlowHTTP(),
		// Generate repeats calls itself: the SDK does not know that a stream which broke before its first event can be repeated, too.
		Retryer: aws.NopRetryer{},
	}, func(o *bedrockruntime.Options) {
		// The SDK would let a bearer token in AWS_BEARER_TOKEN_BEDROCK take the place of the function's role.
		o.BearerAuthTokenProvider, o.AuthSchemePreference = nil, nil
	})
}

// ownProtocol gives a call its own decoder of events: the client's is shared by its calls, and not made for streams at once.
func ownProtocol(o *bedrockruntime.Options) {
	o.Protocol = restjson1.New(schemas.AmazonBedrockFrontendService)
}

// Generate implements model.Provider. An answer that fails before anything of it has come is asked for again, a few times within two
// seconds; one that a client could have seen a part of is not.
func (p *Provider) Generate(ctx context.Context, r model.Request, emit func(model.Part) error) (model.Outcome, error) {
	window := time.NewTimer(p.window)
	defer window.Stop()
	for attempt := 0; ; attempt++ {
		traits := p.traits()
		a := newAnswer(p.model, emit)
		err := p.ask(ctx, r, traits, a)
		switch {
		case err == nil || a.begun:
			return a.outcome, err
		case traits.cached() && refusesCaching(err):
			p.uncached.Store(true)
		case !worthRepeating(err) || attempt+1 == maxAttempts || over(window):
			return a.outcome, err
		case !awsclient.Sleep(ctx, p.backoff(attempt)):
			return a.outcome, left(ctx)
		}
	}
}

// ask makes one attempt. Its errors are those of Generate.
func (p *Provider) ask(ctx context.Context, r model.Request, t traits, a *answer) error {
	if r.Task == model.TaskSummarize {
		return p.converse(ctx, r, t, a)
	}
	return p.stream(ctx, r, t, a)
}

// traits of the model, as far as it has not refused them.
func (p *Provider) traits() traits {
	t := traitsOf(p.model)
	if p.uncached.Load() {
		t.cacheSystem, t.cacheTools = false, false
	}
	return t
}

// worthRepeating reports that the next attempt may do better, soon: a provider that says when to come again means later.
func worthRepeating(err error) bool {
	var failed *model.Error
	return errors.As(err, &failed) && failed.Fault == model.Unavailable && failed.RetryAfter == 0
}

// left is the error of a context that has ended.
func left(ctx context.Context) error { return fmt.Errorf("bedrock: %w", ctx.Err()) }

// over reports that the timer has run out.
func over(timer *time.Timer) bool {
	select {
	case <-timer.C:
		return true
	default:
		return false
	}
}
