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

// The messages for the owner of an endpoint. They never contain the text of an error, which contains addresses and
// internals of the client.
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

// sentences contains the timeout of attempts, which a message names.
type sentences struct{ within time.Duration }

func (w sentences) tooSlow() string {
	return "no complete answer within " + strconv.FormatFloat(w.within.Seconds(), 'f', -1, 64) + " s"
}

// noAnswer returns the result of an attempt that ended with err at a stage, without a response.
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
		return Result{Error: sentenceClosed} // HTTP/2 does not say what was wrong
	case exchanging:
		return Result{Error: silenceSentence(err)}
	default:
		return Result{Error: answerSentence(err)}
	}
}

// brokenOff completes the result of a response whose body was incomplete. A failure with a status keeps its message.
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

// alert returns a colon and the TLS alert that the endpoint sent, in the words of crypto/tls (RFC 8446 §6); "" if it
// sent none.
func alert(err error) string {
	said, ok := errors.AsType[*net.OpError](err)
	if !ok || said.Op != "remote error" || said.Err == nil {
		return ""
	}
	return ": " + strings.TrimPrefix(said.Err.Error(), "tls: ")
}

// certificateFault returns what is wrong with a certificate, without quoting it.
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

// silenceSentence returns the message for a connection that ended before the first byte of a response.
func silenceSentence(err error) string {
	if said := alert(err); said != "" {
		return sentenceHandshake + said // TLS 1.3: the endpoint requires a client certificate
	}
	return sentenceClosed
}

// answerSentence returns the message for a response with an incomplete header.
func answerSentence(err error) string {
	if closed(err) {
		return sentenceClosed
	}
	return sentenceNotHTTP
}

// closed reports whether the endpoint or the network closed the connection.
func closed(err error) bool {
	return slices.ContainsFunc([]error{
		io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED,
	}, func(end error) bool { return errors.Is(err, end) })
}

// redirects are the statuses that redirect.
var redirects = []int{
	http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
	http.StatusPermanentRedirect,
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
