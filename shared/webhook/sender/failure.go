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

	"devplatform/shared/publicnet"
)

// The messages for the owner of an endpoint. They never contain the text of a Go error, because such a text contains
// addresses and internals of the client.
const (
	messageURL            = "the url is not valid"
	messageAborted        = "the attempt was interrupted before the response was complete"
	messageNotPublic      = "the address is not public"
	messageUnresolved     = "the host name could not be resolved"
	messageResolveTimeout = "the host name could not be resolved in time"
	messageConnectTimeout = "the connection timed out"
	messageRefused        = "the connection was refused"
	messageUnreachable    = "the host could not be reached"
	messageConnectFailed  = "the connection failed"
	messageHandshake      = "the TLS handshake failed"
	messageHandshakeSize  = "the TLS handshake failed: the endpoint sent more than 32 KiB, such as too many certificates"
	messageNoTLS          = "the endpoint does not support TLS"
	messageClosed         = "the connection was closed before the response was complete"
	messageNotHTTP        = "the response is not valid HTTP, or its header is too large"
	messageIncomplete     = "the response body is incomplete"
	messageCertificate    = "the certificate is not valid: "
)

// endOf returns the result of an attempt whose context has ended. It is the zero Result if the context has not ended.
func (s *Sender) endOf(ctx context.Context) Result {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errAborted):
		return Result{Error: messageAborted, Aborted: true}
	case errors.Is(cause, errTimedOut):
		seconds := strconv.FormatFloat(s.options.Timeout.Seconds(), 'f', -1, 64)
		return Result{Error: "no complete response within " + seconds + " s", TimedOut: true}
	}
	return Result{}
}

// withoutResponse returns the result of an attempt that ended with err at a stage, without a response.
func (s *Sender) withoutResponse(ctx context.Context, stage int32, err error) Result {
	sentAlert := alert(err)
	switch end := s.endOf(ctx); {
	case !end.OK():
		return end
	case stage == stageConnect:
		return connectResult(err)
	case stage == stageTLS:
		return Result{Error: handshakeMessage(err)}
	case stage == stageRequest && sentAlert != "": // TLS 1.3: the endpoint requires a client certificate
		return Result{Error: messageHandshake + sentAlert}
	case stage == stageResponse && !isClosed(err):
		return Result{Error: messageNotHTTP}
	}
	return Result{Error: messageClosed} // the HTTP/2 transport does not report the cause
}

func connectResult(err error) Result {
	if unresolved, ok := errors.AsType[*net.DNSError](err); ok {
		if unresolved.IsTimeout {
			return Result{Error: messageResolveTimeout, TimedOut: true}
		}
		return Result{Error: messageUnresolved}
	}
	if publicnet.IsRejected(err) {
		return Result{Error: messageNotPublic}
	}
	if failed, ok := errors.AsType[net.Error](err); ok && failed.Timeout() {
		return Result{Error: messageConnectTimeout, TimedOut: true}
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return Result{Error: messageRefused}
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return Result{Error: messageUnreachable}
	case errors.Is(err, syscall.ECONNRESET):
		return Result{Error: messageClosed}
	}
	return Result{Error: messageConnectFailed}
}

func handshakeMessage(err error) string {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return messageCertificate + certificateFault(err)
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return messageNoTLS
	}
	if errors.Is(err, errHandshakeSize) {
		return messageHandshakeSize
	}
	if isClosed(err) {
		return messageHandshake + ": the connection was closed"
	}
	return messageHandshake + alert(err)
}

// alert returns a colon and the description that crypto/tls has of the TLS alert that the endpoint sent (RFC 8446 §6).
// It returns "" if the endpoint sent no alert.
func alert(err error) string {
	remote, ok := errors.AsType[*net.OpError](err)
	if !ok || remote.Op != "remote error" || remote.Err == nil {
		return ""
	}
	return ": " + strings.TrimPrefix(remote.Err.Error(), "tls: ")
}

// certificateFault returns the reason why a certificate is not valid, without quoting the certificate.
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
	return "it cannot be verified"
}

// isClosed reports whether the endpoint or the network closed the connection.
func isClosed(err error) bool {
	return slices.ContainsFunc([]error{
		io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED,
	}, func(end error) bool { return errors.Is(err, end) })
}

// statusMessage returns the message for the status of a response; "" if it is a success.
func statusMessage(status int) string {
	if status >= 200 && status < 300 {
		return ""
	}
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return fmt.Sprintf("the response is a redirect (%d), and redirects are not followed", status)
	}
	return fmt.Sprintf("status %d", status)
}
