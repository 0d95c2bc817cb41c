package setting

import (
	"encoding/base64"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"

	"devplatform/shared/id"
)

// MaxVariableBytes is the maximum size of the names and values of all variables of a project.
const MaxVariableBytes = 32 << 10

// Target selects the deployments that get a variable: all deployments, or the deployments with one target.
type Target string

// All is the target of variables that all deployments get. The other targets are the targets of deployments.
const All Target = "all"

// Variable is a value that the code of a project can read. The build writes it into the output, so every visitor of the
// site can read it. The names of the attributes are part of the data format.
type Variable struct {
	Name   string `json:"name" dynamodbav:"name" maxLength:"128" doc:"The name: VITE_ or REACT_APP_, followed by A-Z, 0-9 and _, at most 128 characters" example:"VITE_API_URL"`
	Value  string `json:"value" dynamodbav:"value" maxLength:"32768" doc:"The value. It must not contain a token or a secret of this service" example:"https://api.example.com"`
	Target Target `json:"target" dynamodbav:"target" enum:"production,preview,all" doc:"The deployments that get the variable: those with this target, or all. If there are two variables with a name, the one with the deployment's target is used" example:"all"`
}

// Bytes returns the size of the variable that counts towards MaxVariableBytes.
func (v Variable) Bytes() int { return len(v.Name) + len(v.Value) }

// variableName matches the names of variables. Vite and Create React App reserve the prefixes for values that everyone
// may read.
var variableName = regexp.MustCompile(`^(VITE_|REACT_APP_)[A-Z0-9_]*$`)

// CheckName returns the rule that the name of a variable breaks, or "". The schema checks the length.
func CheckName(name string) string {
	if !variableName.MatchString(name) {
		return "must be VITE_ or REACT_APP_, followed by letters A-Z, digits and _"
	}
	return ""
}

// CheckValue returns the rule that the value of a variable breaks, or "". A value must not contain a credential of this
// service:
//
//   - an API token: dvp_ and letters and digits
//   - a secret of a webhook in the form of Standard Webhooks: whsec_ and base64
//   - a session: a JWT whose claim sid is the ID of a session of this service
//
// Tokens of other services are allowed, even if they are JWTs, because many are made to be public. The value is not
// compared with stored credentials: a credential that was revoked or is invalid breaks the rule, too.
func CheckValue(value string) string {
	if credentials.MatchString(value) || hasSession(value) {
		return "must not contain a token or a secret of this service, because every visitor of the site can read it"
	}
	return ""
}

// credentials matches the first 20 or 22 characters of API tokens and of secrets of webhooks, which are longer.
var credentials = regexp.MustCompile(`dvp_[0-9A-Za-z]{16}|whsec_[0-9A-Za-z+/]{16}`)

// minClaims is less than the length of the claims of a session token, which contain two IDs.
const minClaims = 60

// hasSession reports whether a text contains a session token. It does not verify the signature.
func hasSession(text string) bool {
	parts := strings.Split(text, ".")
	for i := 1; i < len(parts)-1; i++ { // the claims are between two dots
		if len(parts[i]) < minClaims {
			continue
		}
		data, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			continue
		}
		var claims struct {
			SessionID string `json:"sid"`
		}
		if json.Unmarshal(data, &claims) == nil && id.Session.Valid(claims.SessionID) {
			return true
		}
	}
	return false
}

// Values returns the values of the variables that a deployment with a target gets, by name. A variable with this target
// takes precedence over the variable with the target All.
func Values(variables []Variable, target Target) map[string]string {
	values := map[string]string{}
	for _, v := range variables {
		if _, isSet := values[v.Name]; v.Target == target || v.Target == All && !isSet {
			values[v.Name] = v.Value
		}
	}
	return values
}
