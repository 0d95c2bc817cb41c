package main

import (
	"crypto/rand"
	"fmt"
	"path/filepath"

	"devplatform/infra/local/codehost"
)

// codehostPath is where the built-in code host answers on the AWS port.
const codehostPath = "/codehost"

// openCodehost starts the built-in OAuth2 provider unless the environment names one (OAUTH_PROVIDER), and answers the
// environment that overrides the functions' variables: the process's own, with the provider's settings where it runs.
func (p *platform) openCodehost(overrides map[string]string) (map[string]string, error) {
	if p.settings.OAuthProvider != "" {
		return overrides, nil
	}
	secret := rand.Text() // new at each start: nothing else has to know it
	const clientID = "local"
	var prefixes []string
	for _, origin := range p.origins() {
		prefixes = append(prefixes, origin+"/")
	}
	var err error
	p.codehost, err = codehost.New(codehost.Options{
		Dir: filepath.Join(p.settings.DataDir, "codehost"), Now: now, Logger: p.logger,
		ClientID: clientID, ClientSecret: secret, RedirectPrefixes: prefixes, BasePath: codehostPath,
	})
	if err != nil {
		return nil, err
	}
	base := fmt.Sprintf("http://localhost:%d%s", p.aws.port, codehostPath)
	for name, value := range map[string]string{
		"OAUTH_PROVIDER":      "custom",
		"OAUTH_CLIENT_ID":     clientID,
		"OAUTH_CLIENT_SECRET": secret,
		"OAUTH_AUTHORIZE_URL": base + "/login/oauth/authorize",
		"OAUTH_TOKEN_URL":     base + "/login/oauth/access_token",
		"OAUTH_USER_URL":      base + "/api/v1/user",
		"OAUTH_EMAILS_URL":    base + "/api/v1/user/emails",
		"OAUTH_SCOPES":        "read:user",
	} {
		overrides[name] = value
	}
	return overrides, nil
}
