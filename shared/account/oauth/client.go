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

// maxResponse is the maximum size of a response from the provider, after decompression. A page of 100 e-mail addresses
// has about 40 KiB.
const maxResponse = 128 << 10

// config returns the configuration of the library. secret is not needed for AuthorizeURL.
func (p *Provider) config(secret, redirectURI string, style xoauth2.AuthStyle) *xoauth2.Config {
	return &xoauth2.Config{
		ClientID: p.id, ClientSecret: secret, RedirectURL: redirectURI, Scopes: p.scopes,
		Endpoint: xoauth2.Endpoint{AuthURL: p.urls.authorize, TokenURL: p.urls.token, AuthStyle: style},
	}
}

// exchange exchanges the code for an access token. It tries the next AuthStyle of the preset only if the provider did
// not recognize the client. With AuthStyleAutoDetect, the library would send the code a second time after every
// failure.
func (p *Provider) exchange(ctx context.Context, code, verifier, redirectURI string) (string, error) {
	secret, err := p.secret(ctx)
	if err != nil {
		return "", unavailable(stepToken, 0, errNoSecret)
	}
	ctx = context.WithValue(ctx, xoauth2.HTTPClient, p.client())
	var failed *Error
	for _, style := range p.preset.styles {
		token, err := p.config(secret, redirectURI, style).Exchange(ctx, code, xoauth2.VerifierOption(verifier))
		if err == nil {
			return token.AccessToken, nil
		}
		failed = tokenError(err)
		if failed.Code != "invalid_client" && failed.Status != http.StatusUnauthorized {
			break
		}
	}
	return "", failed
}

// tokenError converts the error of a failed exchange. It drops the library's error, which contains the whole response.
func tokenError(err error) *Error {
	response, ok := errors.AsType[*xoauth2.RetrieveError](err)
	if !ok {
		return unavailable(stepToken, 0, transportCause(err))
	}
	e := unavailable(stepToken, response.Response.StatusCode, nil)
	if response.ErrorCode != "" {
		e.Code = errorCode(response.ErrorCode)
	}
	rejected := isRejection(e.Status) || (e.Status == http.StatusOK && e.Code != "") // GitHub rejects with status 200
	if rejected && !transientCodes[e.Code] {
		e.Kind = ErrRefused
	}
	return e
}

// isRejection reports whether an HTTP status means that the provider rejected the request. Every other failure, such as
// a redirect, a missing page or throttling, counts as an unavailable provider.
func isRejection(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnauthorized || status == http.StatusForbidden
}

// get reads a JSON resource with the user's access token.
func (p *Provider) get(ctx context.Context, step, url, token string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return unavailable(step, 0, errInvalid)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := p.client().Do(req)
	if err != nil {
		return unavailable(step, 0, transportCause(err))
	}
	defer func() { _ = res.Body.Close() }()
	if isRejection(res.StatusCode) {
		return &Error{Kind: ErrRefused, Step: step, Status: res.StatusCode}
	}
	if res.StatusCode != http.StatusOK {
		return unavailable(step, res.StatusCode, nil)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return unavailable(step, res.StatusCode, transportCause(err))
	}
	if err := json.Unmarshal(body, into); err != nil {
		return unavailable(step, res.StatusCode, errInvalid)
	}
	return nil
}

// newClient returns a client that limits the size of every response. It does not follow redirects, because a redirect
// could send the secret or the token to another address. It does not use a proxy from the environment.
func newClient() *http.Client {
	const (
		dialTimeout = 3 * time.Second
		// idleTimeout is shorter than the idle timeouts of providers. While Lambda is frozen, the client does not notice
		// that a provider closes a connection.
		idleTimeout    = 30 * time.Second
		maxHeaderBytes = 64 << 10
	)
	return &http.Client{
		Transport: transport{&http.Transport{
			DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSHandshakeTimeout:    dialTimeout,
			IdleConnTimeout:        idleTimeout,
			MaxIdleConnsPerHost:    2,
			MaxResponseHeaderBytes: maxHeaderBytes,
			// Over HTTP/2, a hostile server could send frames without end, also after the sign-in has timed out.
			ForceAttemptHTTP2: false,
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// transport sets the headers of all requests and limits the size of the responses to maxResponse.
type transport struct{ next http.RoundTripper }

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "devplatform") // GitHub rejects requests without a User-Agent
	res, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	res.Body = http.MaxBytesReader(nil, res.Body, maxResponse)
	return res, nil
}
