package password

import (
	"devplatform/shared/account/attempt"
	"devplatform/shared/httpapi"
)

// Register adds the endpoints of passwords, with the tag of accounts.
func (s *Service) Register(r *httpapi.Routes, tag httpapi.Tag) {
	s.registerSignup(r, tag)
	s.registerLogin(r, tag)
	s.registerChange(r, tag)
}

// ExampleDenied is the error of Service.Confirm in the OpenAPI document.
var ExampleDenied = attempt.ExampleStatus.WithHeaders(errReauthenticate)

// ReauthenticationRule is the part of a description that states the rule of Service.Confirm.
const ReauthenticationRule = "The session must have started within the last 10 minutes. Otherwise, the body must contain " +
	"the password, which counts as a login attempt."

// Reauthentication is the optional body of a request that Service.Confirm checks. It may be nil.
type Reauthentication struct {
	Password string `json:"password,omitempty" format:"password" doc:"The password of the account; at most 1,024 bytes. It is not checked if the session started within the last 10 minutes" example:"correct horse battery"`
}

// Validate checks the length of the password.
func (b *Reauthentication) Validate(v *httpapi.Validation) {
	if b != nil {
		v.Field("password", checkLength(b.Password))
	}
}
