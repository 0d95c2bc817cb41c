// Command mailer is the Lambda function that reads the stream of mails and sends each mail. It also reads the events of
// Amazon SES about mails that did not arrive.
package main

import "devplatform/shared/lambdafn"

func main() { lambdafn.Start(newHandler) }
