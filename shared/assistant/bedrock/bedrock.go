// Package bedrock is the model provider for models on Amazon Bedrock. It translates between package model and
// Bedrock's ConverseStream API: requests, stream events and errors. Projects and prompts do not belong here. The
// features that a model rejects are in traits.go.
package bedrock

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/provider"
	"devplatform/shared/awsclient"
	"devplatform/shared/config"
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
	model   string
	client  func() *bedrockruntime.Client
	secrets []string
	// rejectsCaching is set after the model has rejected cache points.
	rejectsCaching atomic.Bool
	waits          provider.Waits
}

var _ model.Provider = (*Provider)(nil)

// New returns a provider. The client is created by the first call, to keep the cold start short.
func New(o Options) *Provider {
	p := &Provider{
		model:  o.Model,
		client: sync.OnceValue(func() *bedrockruntime.Client { return newClient(o) }),
		waits:  provider.DefaultWaits(),
	}
	// AWS explains a wrong signature by quoting the signed text, including the session token. Short values are the public
	// credentials of the local platform, which may occur in any text.
	for _, secret := range []string{o.AWS.SecretAccessKey, o.AWS.SessionToken} {
		if len(secret) > 8 {
			p.secrets = append(p.secrets, secret)
		}
	}
	return p
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
	}, func(options *bedrockruntime.Options) {
		// Otherwise the SDK would use a bearer token in AWS_BEARER_TOKEN_BEDROCK instead of the function's role.
		options.BearerAuthTokenProvider, options.AuthSchemePreference = nil, nil
	})
}

// Generate implements model.Provider. After the first event it does not retry, because the client may have received a
// part of the answer. If the model rejects cache points, Generate retries without them.
func (p *Provider) Generate(ctx context.Context, r model.Request, emit func(model.Part) error) (model.Outcome, error) {
	var a *answer
	err := p.waits.Retry(ctx, func() (hasBegun bool, err error) {
		t := traitsOf(p.model)
		if p.rejectsCaching.Load() {
			t = t.withoutCache()
		}
		a = newAnswer(p.model, emit)
		if err = p.stream(ctx, r, t, a); err != nil && !a.hasBegun && t.caches() && rejectsCaching(err) {
			p.rejectsCaching.Store(true)
			a = newAnswer(p.model, emit)
			err = p.stream(ctx, r, t.withoutCache(), a)
		}
		return a.hasBegun, err
	})
	return a.outcome, err
}
