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
	for name, tc := range map[string]struct {
		task   model.Task
		status int
		fault  model.Fault
	}{
		"error":             {model.TaskSummarize, http.StatusInternalServerError, model.Unavailable},
		"error of a stream": {model.TaskChat, http.StatusBadRequest, model.Misconfigured},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				w.WriteHeader(tc.status)
				if n, err := w.Write(bytes.Repeat([]byte(" "), sent)); err == nil {
					t.Errorf("the client read %d bytes", n)
				}
			})
			p := s.provider(claude)
			p.waits.Window = 0 // one attempt
			request := chatRequest()
			request.Task = tc.task
			_, _, err := generateFor(t.Context(), t, p, request)
			providertest.CheckFault(t, err, tc.fault)
		})
	}
}
