package bedrock

import (
	"bytes"
	"net/http"
	"testing"

	"devplatform/infra/providertest"
	"devplatform/shared/assistant/model"
)

func TestResponsesThatAreTooLarge(t *testing.T) {
	t.Parallel()
	// The server sends more than the client and its connection accept, and fails if the client reads all.
	const sent = maxResponse + 32<<20
	for status, fault := range map[int]model.Fault{
		http.StatusInternalServerError: model.Unavailable,
		http.StatusBadRequest:          model.Misconfigured,
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				w.WriteHeader(status)
				if n, err := w.Write(bytes.Repeat([]byte(" "), sent)); err == nil {
					t.Errorf("the client read %d bytes", n)
				}
			})
			p := s.provider(claude)
			p.waits.Window = 0 // one attempt
			_, _, err := generate(t, p)
			providertest.CheckFault(t, err, fault)
		})
	}
}
