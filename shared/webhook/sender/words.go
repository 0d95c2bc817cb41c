package sender

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// What the owner of an endpoint is told. Nothing of an error's own text is passed on: it holds addresses and the innards of the client.
const (
	sentenceURL         = "the url can't be sent to"
	sentenceAborted     = "the attempt was interrupted before the endpoint had answered"
	sentenceNotPublic   = "the address is not public"
	sentenceUnresolved  = "the host name could not be resolved"
	sentenceSlowResolve = "the host name could not be resolved in time"
	sentenceSlowConnect = "no connection could be made in time"
	sentenceRefused     = "the connection was refused"
	sentenceUnreachable = "the host could not be reached"
	sentenceUnconnected = "no connection could be made"
	sentenceHandshake   = "the TLS handshake failed"
	sentenceNoTLS       = "the endpoint does not speak TLS"
	sentenceClosed      = "the connection was closed before a complete answer"
	sentenceNotHTTP     = "the answer is not valid HTTP, or its header is too long"
	sentenceBrokenOff   = "the answer broke off before its end"
	certificateInvalid  = "the certificate is not valid: "
)

// sentences knows the time that an attempt has, to name it.
type sentences struct{ within time.Duration }

func (w sentences) tooSlow() string {
	return "no complete answer within " + strconv.FormatFloat(w.within.Seconds(), 'f', -1, 64) + " s"
}

// noAnswer is the result of an attempt that ended in err, at a stage, before an answer had come.
func (w sentences) noAnswer(ctx context.Context, stage int32, err error) Result {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errAborted):
		return Result{Error: sentenceAborted, Aborted: true}
	case errors.Is(cause, errTimedOut):
		return Result{Error: w.tooSlow(), TimedOut: true}
	}
	switch stage {
	case connecting:
		return connectFailure(err)
	case securing:
		return Result{Error: handshakeSentence(err)}
	case streaming:
		return Result{Error: sentenceClosed} // whatever was wrong, that is what HTTP/2 made of it
	case exchanging:
		return Result{Error: silenceSentence(err)}
	default:
		return Result{Error: answerSentence(err)}
	}
}

// brokenOff adds to the result of an answer whose body did not come to its end. A failure that has a status keeps it.
func (w sentences) brokenOff(ctx context.Context, result *Result) {
	reason := sentenceBrokenOff
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errAborted):
		reason, result.Aborted = sentenceAborted, true
	case errors.Is(cause, errTimedOut):
		reason, result.TimedOut = w.tooSlow(), true
	}
	if result.Error != "" {
		reason = result.Error + "; " + reason
	}
	result.Error = reason
}

func connectFailure(err error) Result {
	if unresolved, ok := errors.AsType[*net.DNSError](err); ok {
		if unresolved.IsTimeout {
			return Result{Error: sentenceSlowResolve, TimedOut: true}
		}
		return Result{Error: sentenceUnresolved}
	}
	if refused(err) {
		return Result{Error: sentenceNotPublic}
	}
	if failed, ok := errors.AsType[net.Error](err); ok && failed.Timeout() {
		return Result{Error: sentenceSlowConnect, TimedOut: true}
	}
	for _, known := range []struct {
		errno    syscall.Errno
		sentence string
	}{
		{syscall.ECONNREFUSED, sentenceRefused},
		{syscall.EHOSTUNREACH, sentenceUnreachable},
		{syscall.ENETUNREACH, sentenceUnreachable},
		{syscall.ECONNRESET, sentenceClosed},
	} {
		if errors.Is(err, known.errno) {
			return Result{Error: known.sentence}
		}
	}
	return Result{Error: sentenceUnconnected}
}

func handshakeSentence(err error) string {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return certificateInvalid + certificateFault(err)
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return sentenceNoTLS
	}
	if closed(err) {
		return sentenceHandshake + ": the connection was closed"
	}
	return sentenceHandshake + alert(err)
}

// alert is what the other side said was wrong with the handshake, after a colon. The words are of crypto/tls's own table (RFC 8446 §6).
func alert(err error) string {
	said, ok := errors.AsType[*net.OpError](err)
	if !ok || said.Op != "remote error" || said.Err == nil {
		return ""
	}
	return ": " + strings.TrimPrefix(said.Err.Error(), "tls: ")
}

// certificateFault names what is wrong with a certificate, without quoting from it.
func certificateFault(err error) string {
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "it is for another host name"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "it is signed by an unknown authority"
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return "it has expired or is not valid yet"
	}
	return "it can't be verified"
}

// silenceSentence is for a connection that ended without a byte of an answer.
func silenceSentence(err error) string {
	if said := alert(err); said != "" {
		return sentenceHandshake + said // TLS 1.3: a certificate of ours is missing
	}
	return sentenceClosed
}

// answerSentence is for an answer that began and did not come to the end of its header.
func answerSentence(err error) string {
	if closed(err) {
		return sentenceClosed
	}
	return sentenceNotHTTP
}

// closed reports whether the other side, or the network, ended the connection.
func closed(err error) bool {
	return slices.ContainsFunc([]error{
		io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED,
	}, func(end error) bool { return errors.Is(err, end) })
}

// redirects are the answers that ask to be sent elsewhere.
var redirects = []int{
	http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
}

func statusSentence(status int) string {
	switch {
	case status >= 200 && status < 300:
		return ""
	case slices.Contains(redirects, status):
		return fmt.Sprintf("the answer was a redirect (%d), which is not followed", status)
	default:
		return fmt.Sprintf("status %d", status)
	}
}
