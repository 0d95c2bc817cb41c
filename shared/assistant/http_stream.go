package assistant

import (
	"context"
	"time"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/uistream"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// patience is how long a stream waits for the model's first word, so that an error until then is an ordinary answer.
const patience = 3 * time.Second

// saying is something that a listener is told.
type saying = func(*uistream.Writer) error

// handleStream answers in the background of the request, which the client can cancel by disconnecting without ending the
// answer. What is said until patience ends is held back, so that an early error is an ordinary response.
func (s *Service) handleStream(ctx context.Context, _ httpapi.Caller, in *chatInput, out *httpapi.EventStream) error {
	said := make(chan saying)
	var answer reply
	var err error
	go func() {
		defer close(said)
		err = fault.Recover(func() (err error) {
			answer, err = s.converse(ctx, in.question(), func(say saying) { said <- say })
			return err
		})
	}()
	first, ended := wait(said, 2) // the first thing said is the answer's id, before the model was heard
	if ended && err != nil {
		return err
	}
	w := uistream.NewWriter(out, out.FlushError, uistream.Options{})
	defer w.Close()
	for _, say := range first {
		_ = say(w)
	}
	for say := range said { // to the end, even if the client has disconnected: the answer is stored
		_ = say(w)
	}
	return finish(out, w, answer, err)
}

// wait takes n things that are said, or fewer if patience ends before, or the answer does.
func wait(said <-chan saying, n int) (first []saying, ended bool) {
	over := time.After(patience)
	for len(first) < n {
		select {
		case say, ok := <-said:
			if !ok {
				return first, true
			}
			first = append(first, say)
		case <-over:
			return first, false
		}
	}
	return first, false
}

// finish ends the stream. It returns err, which becomes an ordinary response if the stream has not started.
func finish(out *httpapi.EventStream, w *uistream.Writer, answer reply, err error) error {
	if err != nil {
		if !w.Begun() {
			w.Close() // no keep-alive starts the stream from here on
		}
		if !out.Started() {
			return err
		}
		_ = w.Error(httpapi.AsError(err).Message)
		_ = w.Finish(uistream.Failed)
		return err
	}
	_ = w.Data("result", answer)
	_ = w.Finish(reasonOf(answer.stop))
	return nil
}

// reasonOf is why an answer ended, in the protocol's words. Calls of tools are no reason: nobody is asked for their results.
func reasonOf(stop model.Stop) uistream.Reason {
	switch stop {
	case model.StopEnd, model.StopTools:
		return uistream.Stop
	case model.StopLength:
		return uistream.Length
	default:
		return uistream.Other
	}
}
