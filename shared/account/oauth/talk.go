package oauth

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	xoauth2 "golang.org/x/oauth2"
)

// maxAnswer bounds each answer of the provider, after decompression.
const maxAnswer = 1 << 20

func (p *Provider) config(secret, redirectURI string, style xoauth2.AuthStyle) *xoauth2.Config {
	return &xoauth2.Config{
		ClientID:     p.id,
		ClientSecret: secret,
		Endpoint:     xoauth2.Endpoint{AuthURL: p.urls.authorize, TokenURL: p.urls.token, AuthStyle: style},
		RedirectURL:  redirectURI,
		Scopes:       p.scopes,
	}
}

// exchange redeems the code for an access token. The library's own probing of the client authentication would present the code
// twice after every failure; here the second way is tried only when the client itself was not recognised.
func (p *Provider) exchange(ctx context.Context, code, verifier, redirectURI string) (string, error) {
	secret, err := p.secret(ctx)
	if err != nil {
		return "", &Error{Kind: ErrUnavailable, Step: stepToken, cause: errNoSecret}
	}
	ctx = context.WithValue(ctx, xoauth2.HTTPClient, p.client())
	var refused *Error
	for _, style := range p.preset.styles {
		token, err := p.config(secret, redirectURI, style).Exchange(ctx, code, xoauth2.VerifierOption(verifier))
		if err == nil {
			return token.AccessToken, nil
		}
		refused = tokenError(err)
		if refused.Code != "invalid_client" && refused.Status != http.StatusUnauthorized {
			break
		}
	}
	return "", refused
}

// tokenError sorts a failed exchange. The library's error quotes the provider's whole answer and is therefore not kept.
func tokenError(err error) *Error {
	answered, ok := errors.AsType[*xoauth2.RetrieveError](err)
	if !ok {
		return &Error{Kind: ErrUnavailable, Step: stepToken, cause: transportCause(err)}
	}
	e := &Error{Kind: ErrUnavailable, Step: stepToken, Status: answered.Response.StatusCode}
	if answered.ErrorCode != "" {
		e.Code = errorCode(answered.ErrorCode)
	}
	said := e.Status == http.StatusOK && e.Code != "" // GitHub's way of saying no
	if (said || refusal(e.Status)) && !transientCodes[e.Code] {
		e.Kind = ErrRefused
	}
	return e
}

// refusal reports whether an HTTP status says no. Every other failure, such as a redirect, a missing page or a throttle, means that
// the provider could not be asked.
func refusal(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnauthorized || status == http.StatusForbidden
}

// get reads one JSON resource in the user's name.
func (p *Provider) get(ctx context.Context, step, url, token string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return &Error{Kind: ErrUnavailable, Step: step, cause: errGarbled}
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := p.client().Do(req)
	if err != nil {
		return &Error{Kind: ErrUnavailable, Step: step, cause: transportCause(err)}
	}
	defer func() { _ = res.Body.Close() }()
	if refusal(res.StatusCode) {
		return &Error{Kind: ErrRefused, Step: step, Status: res.StatusCode}
	}
	if res.StatusCode != http.StatusOK {
		return &Error{Kind: ErrUnavailable, Step: step, Status: res.StatusCode}
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return &Error{Kind: ErrUnavailable, Step: step, Status: res.StatusCode, cause: transportCause(err)}
	}
	if err := json.Unmarshal(body, into); err != nil {
		return &Error{Kind: ErrUnavailable, Step: step, Status: res.StatusCode, cause: errGarbled}
	}
	return nil
}

// newClient makes a client that does as it is told: no redirect is followed (it would carry the secret or the token elsewhere),
// no proxy is taken from the environment, and every answer is bounded.
func newClient() *http.Client {
	const (
		dialTimeout    = 5 * time.Second
		idleTimeout    = 30 * time.Second // shorter than any provider's, so that a thawed function finds no dead connection
		maxHeaderBytes = 64 << 10
	)
	return &http.Client{
		Transport: bounded{&http.Transport{
			DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSHandshakeTimeout:    dialTimeout,
			IdleConnTimeout:        idleTimeout,
			MaxIdleConnsPerHost:    2,
			MaxResponseHeaderBytes: maxHeaderBytes,
			ForceAttemptHTTP2:      true,
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// bounded introduces the client and cuts answers off at maxAnswer.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "devplatform") // GitHub refuses requests without one
	res, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err //nolint:wrapcheck // http.Client wraps what a transport returns
	}
	res.Body = &boundedBody{ReadCloser: res.Body, left: maxAnswer}
	return res, nil
}

// boundedBody fails, where io.LimitReader would pretend that the answer had ended.
type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	b.left -= n
	if b.left < 0 {
		return n + b.left, errTooLarge
	}
	return n, err //nolint:wrapcheck // io.EOF must stay io.EOF
}
