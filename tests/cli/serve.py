# SPDX-License-Identifier: MIT
"""serve.py DYNOCTL LAYER: dynoctl serve over HTTP: its answers equal those of dynoctl predict,
broken requests do not affect others, and its limits, token, counters and end.  LAYER: the folder of
the layer that makes devices fail."""
import contextlib, http.client, json, os, re, resource, select, shutil, signal, socket, struct, ssl, subprocess, sys, tempfile, threading, time, unittest, zlib
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
LAYER = sys.argv.pop(2)
from dynoctl import Case, PROGRAM, SMALL, TINY, main

POSES = 'builtin:poses?size=16&samples=40'
PRELOAD = os.environ.get('DYNO_TEST_PRELOAD')
TOKEN = 'correct-horse-battery-staple'
# Of localhost and 127.0.0.1, until 2126; made by: openssl req -x509 -newkey ec -pkeyopt
# ec_paramgen_curve:P-256 -nodes -days 36500 -subj /CN=localhost
CERTIFICATE = '''-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUXqfQkSUXpEmGCC+tz4qyT6C08U4wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEzMDE2NTMwNFoYDzIxMjYxMTA2
MTY1MzA0WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQWPKqcq1chm7D1n/cnrSvId7HCSli6kOQ+XG1BFiYhKCUUDJCJq4M8
eok7FV8tVNaIfwZ6yfalN9NSUFf8Y2+No28wbTAdBgNVHQ4EFgQUXfE480IhZifA
Ya60mOqEa7XipvkwHwYDVR0jBBgwFoAUXfE480IhZifAYa60mOqEa7XipvkwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARhwR/AAABgglsb2NhbGhvc3QwCgYIKoZI
zj0EAwIDSAAwRQIhAObHNDvOqtlQKB5b+aGmW4ANZM5F6LO0204LTyU0Y85dAiAk
/67ydzYp4oOU6yvtEDPpdLy/A/3bBYZt94MZL3zAcQ==
-----END CERTIFICATE-----
'''
KEY = '''-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgzd80JDL6SqtjuWP3
vjLJC8zjXRNtwQAVZ2K5/GZ9wwyhRANCAAQWPKqcq1chm7D1n/cnrSvId7HCSli6
kOQ+XG1BFiYhKCUUDJCJq4M8eok7FV8tVNaIfwZ6yfalN9NSUFf8Y2+N
-----END PRIVATE KEY-----
'''
OTHER_KEY = '''-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgnA9zFMM6OYXUkEq0
94QtFlyYVX8OPEroGZtc9ZFkr8KhRANCAARwopbTqQCl966TJCXnBB06hEyUYoV0
H5+51AlpCB7TbeTSD3B+rsY6e9LvH+dms0jQE7nrzcipBfZjxmlUywg9
-----END PRIVATE KEY-----
'''
WAIT_S = 300


def png(width, height, seed):
    rows = bytes((x * seed + y * 7 + c * 50) % 256 for y in range(height) for x in range(width) for c in range(3))
    lines = b''.join(b'\0' + rows[3 * width * y:3 * width * (y + 1)] for y in range(height))
    data = b'\x89PNG\r\n\x1a\n'
    for kind, body in (b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)), (b'IDAT', zlib.compress(lines)), (b'IEND', b''):
        data += struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))
    return data, rows


class Server:
    """A server process that has printed its address."""
    def __init__(self, case, *arguments, environment=None, files=None):
        self.case = case
        limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))) if files else None
        self.process = subprocess.Popen([PROGRAM, 'serve', '--json', '--listen', ':0', *arguments], cwd=case.folder, preexec_fn=limit,
                                        env=environment or case.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stdout.readline()
        self.listening = json.loads(line) if line else case.fail(self.process.communicate()[1].decode())
        case.assertEqual(self.listening['event'], 'listening')
        self.port = int(self.listening['url'].rsplit(':', 1)[1])
        case.addCleanup(self.process.kill)

    def ask(self, path, body=None, headers=(), method=None, connection=None):
        """Sends a request; returns (status, headers, body)."""
        own = connection or http.client.HTTPConnection('127.0.0.1', self.port, timeout=WAIT_S)
        own.request(method or ('GET' if body is None else 'POST'), path, body, dict(headers))
        answer = own.getresponse()
        data = answer.read()
        if not connection:
            own.close()
        return answer.status, answer.headers, data

    def ask_json(self, path, body=None, expect=200, **more):
        status, _, data = self.ask(path, json.dumps(body) if isinstance(body, dict) else body, **more)
        self.case.assertEqual(status, expect, data)
        return json.loads(data, parse_constant=self.case.fail)

    def infer(self, model, tensor, outputs=None, **more):
        request = {'inputs': [{'name': 'input', **tensor}]}
        if outputs is not None:
            request['outputs'] = outputs
        return self.ask_json(f'/v2/models/{model}/infer', request, **more)

    def count(self, line):
        text = self.ask('/metrics')[2].decode()
        found = re.search('^' + re.escape(line) + r' (\S+)$', text, re.M)
        return float(found.group(1)) if found else None

    def stop(self, number=signal.SIGTERM, expect=0):
        self.process.send_signal(number)
        out, error = self.process.communicate(timeout=WAIT_S)
        self.case.assertEqual(self.process.returncode, expect, error.decode())
        return error.decode()


class Serve(Case):
    @classmethod
    def setUpClass(cls):
        """Trains two runs for all tests: on images with classes, and on images with values."""
        cls.runs = tempfile.mkdtemp(prefix='dynoctl-runs-')
        environment = dict(os.environ, XDG_DATA_HOME=cls.runs)
        for name, data in ('shapes', TINY), ('poses', POSES):
            subprocess.run([PROGRAM, 'train', '--data', data, *SMALL, '--steps', '3', '--set', 'data.val_split=0', '--out',
                            os.path.join(cls.runs, name)], check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.runs, ignore_errors=True)

    def run_of(self, name):
        return os.path.join(self.runs, name)

    def predict(self, name, pictures):
        """Returns dynoctl's predictions for the files, in order."""
        for i, data in enumerate(pictures):
            with open(self.path(f'{i:03}.png'), 'wb') as file:
                file.write(data)
        lines = self.events(self.lines('predict', '--run', self.run_of(name), '--top', '4', '--json',
                                       *[f'{i:03}.png' for i in range(len(pictures))]), 'prediction')
        self.assertEqual(len(lines), len(pictures))
        if 'values' in lines[0]:
            return [[value['value'] for value in line['values']] for line in lines]
        return [[one['probability'] for one in sorted(line['classes'], key=lambda one: one['id'])] for line in lines]

    def near(self, one, other):
        self.assertEqual(len(one), len(other))
        for a, b in zip(one, other):
            self.assertAlmostEqual(a, b, delta=1e-6 * max(1, abs(b)))

    def test_answers_are_those_of_predict(self):
        pictures = [png(20 + i, 30 - i, i + 1) for i in range(4)]
        shares = self.predict('shapes', [file for file, _ in pictures])
        values = self.predict('poses', [file for file, _ in pictures])
        server = Server(self, '--run', self.run_of('shapes'), '--run', 'heads=' + self.run_of('poses'), '--max-batch', '3')
        self.assertEqual(server.listening['models'], ['shapes', 'heads'])
        self.check_metadata(server)
        for i, (file, rows) in enumerate(pictures):
            picture = {'datatype': 'UINT8', 'shape': [1, 30 - i, 20 + i, 3], 'data': list(rows)}
            told = server.infer('shapes', picture)
            self.near(told['outputs'][0]['data'], shares[i])
            best = max(range(4), key=lambda k: shares[i][k])
            self.assertEqual(told['outputs'][1]['data'], [['circle', 'square', 'triangle', 'ring'][best]])
            self.near(server.infer('heads', picture)['outputs'][0]['data'], values[i])
            told = server.ask_json('/v2/models/shapes/versions/1/infer', file, headers={'Content-Type': 'image/png'})
            self.near(told['outputs'][0]['data'], shares[i])
        self.check_binary(server, pictures, shares)
        self.check_ranked(server, pictures[0][1], shares[0])
        self.assertIn('every request answered', server.stop(signal.SIGINT))

    def check_metadata(self, server):
        self.assertEqual(server.ask_json('/v2')['name'], 'dyno')
        self.assertIn('binary_tensor_data', server.ask_json('/v2/')['extensions'])
        for path in '/v2/health/live', '/v2/health/ready', '/v2/models/heads/ready':
            server.ask_json(path)
        told = server.ask_json('/v2/models/shapes')
        self.assertEqual(told['versions'], ['1'])
        self.assertEqual([(one['name'], one['datatype'], one['shape']) for one in told['inputs']], [('input', 'UINT8', [-1, -1, -1, 3])])
        self.assertEqual([(one['name'], one['datatype'], one['shape']) for one in told['outputs']],
                         [('probabilities', 'FP32', [-1, 4]), ('class', 'BYTES', [-1])])
        self.assertEqual(told['outputs'][0]['parameters']['labels'], ['circle', 'square', 'triangle', 'ring'])
        told = server.ask_json('/v2/models/heads')
        self.assertEqual(told['outputs'][0]['parameters'], {'names': ['yaw', 'pitch', 'roll'], 'units': ['degrees'] * 3})

    def check_binary(self, server, pictures, shares):
        """Sends more samples than a batch has; inputs and outputs are binary."""
        data = b''.join(struct.pack('<I', len(file)) + file for file, _ in pictures)
        header = json.dumps({'id': 'four', 'inputs': [{'name': 'input', 'datatype': 'BYTES', 'shape': [4],
                                                       'parameters': {'binary_data_size': len(data)}}],
                             'outputs': [{'name': 'probabilities', 'parameters': {'binary_data': True}}]}).encode()
        status, headers, answer = server.ask('/v2/models/shapes/infer', header + data,
                                             {'Inference-Header-Content-Length': str(len(header)), 'Content-Type': 'application/octet-stream'})
        self.assertEqual(status, 200, answer)
        length = int(headers['Inference-Header-Content-Length'])
        told = json.loads(answer[:length])
        self.assertEqual((told['id'], told['outputs'][0]['shape']), ('four', [4, 4]))
        self.assertEqual(told['outputs'][0]['parameters'], {'binary_data_size': 64})
        self.near(struct.unpack('<16f', answer[length:]), [one for row in shares for one in row])

    def check_ranked(self, server, rows, shares):
        told = server.infer('shapes', {'datatype': 'UINT8', 'shape': [1, 30, 20, 3], 'data': list(rows)},
                            [{'name': 'probabilities', 'parameters': {'classification': 2}}])
        order = sorted(range(4), key=lambda k: -shares[k])[:2]
        self.assertEqual([int(text.split(':')[1]) for text in told['outputs'][0]['data']], order)
        self.near([float(text.split(':')[0]) for text in told['outputs'][0]['data']], [shares[k] for k in order])

    def test_broken_requests_disturb_no_other(self):
        """Of 200 requests by 8 clients two are broken in changing ways; all others are answered
        correctly."""
        pictures = [png(16 + i, 18, i + 3) for i in range(8)]
        shares = self.predict('shapes', [file for file, _ in pictures])
        server = Server(self, '--run', 'demo=' + self.run_of('shapes'), '--max-batch', '4', '--max-delay-us', '2000')
        broken = [(b'{"inputs": [{"name": "input"', 'application/json', 400), (pictures[0][0][:-30], 'image/png', 400)]

        told = []

        def ask(number):
            connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=WAIT_S)
            for turn in range(25):
                at = number * 25 + turn
                if at % 100 == 57:
                    body, kind, expect = broken[at // 100]
                else:
                    body, kind, expect = pictures[at % 8][0], 'image/png', 200
                status, _, data = server.ask('/v2/models/demo/infer', body, {'Content-Type': kind}, connection=connection)
                told.append((at, expect, status, json.loads(data)))
            connection.close()

        clients = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        self.assertEqual(sorted(at for at, *_ in told), list(range(200)))
        for at, expect, status, answer in told:
            self.assertEqual(status, expect, answer)
            if expect == 200:
                self.near(answer['outputs'][0]['data'], shares[at % 8])
            else:
                self.assertEqual(list(answer), ['error'])
        self.assertEqual(server.count('dyno_requests_total{model="demo",code="200"}'), 198)
        self.assertEqual(server.count('dyno_requests_total{model="demo",code="400"}'), 2)
        self.assertEqual(server.count('dyno_request_seconds_count{model="demo"}'), 200)
        self.assertEqual(server.count('dyno_batch_samples_sum{model="demo"}'), 198)
        self.assertEqual(server.count('dyno_queue_requests{model="demo"}'), 0)
        server.stop()

    def test_statuses_and_limits(self):
        server = Server(self, '--run', 'demo=' + self.run_of('shapes'), '--max-body', '1')
        infer = '/v2/models/demo/infer'
        for path, body, method, status, text in (
                ('/v2/models/other', None, None, 404, 'other'), ('/v2/models/other/infer', b'{}', None, 404, 'other'),
                ('/nowhere', None, None, 404, '/v2/models/NAME'), (infer, None, None, 405, 'POST'), ('/v2', b'{}', None, 405, 'GET'),
                ('/metrics', None, 'DELETE', 405, 'GET'), (infer, b'[1', None, 400, 'object'), (infer, b'{}', None, 400, 'inputs'),
                (infer, b'x' * ((1 << 20) + 1), None, 413, 'max-body')):
            told = server.ask_json(path, body, expect=status, method=method)
            self.assertIn(text, told['error'])
        self.assertEqual(server.ask(infer, method='PUT')[1]['Allow'], 'POST')
        pixel = {'datatype': 'UINT8', 'shape': [1, 1, 1, 3], 'data': [1, 2, 3]}
        told = server.infer('demo', {**pixel, 'shape': [1, 1, 2, 3]}, expect=400)
        self.assertIn('inputs[0].data', told['error'])
        self.assertIn('send fewer', server.infer('demo', {**pixel, 'shape': [100000, 1, 1, 3]}, expect=413)['error'])
        told = server.ask_json(infer, b'\x1f\x8b', expect=415, headers={'Content-Encoding': 'gzip'})
        self.assertIn('Content-Encoding', told['error'])
        connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=WAIT_S)
        parts = [b'{"inputs": ['] + [b' ' * 65536] * 17  # chunks, whose total size is not announced
        connection.request('POST', infer, iter(parts), {'Transfer-Encoding': 'chunked'}, encode_chunked=True)
        self.assertEqual(connection.getresponse().status, 413)
        connection.close()
        server.infer('demo', pixel)
        server.stop()

    def test_memory_of_bodies_is_given_back(self):
        """Many chunked bodies follow each other; each request frees all of its memory."""
        server = Server(self, '--run', 'demo=' + self.run_of('shapes'), '--max-body', '1')
        body = b'{"inputs": [' + b' ' * 900000
        for i in range(30):
            told = server.ask_json('/v2/models/demo/infer', body, expect=400)
            self.assertNotIn('memory limit', told['error'], i)
        server.stop()

    def test_full_queue(self):
        """The queue has one place: while a request in it waits for a batch, the next request is
        refused, and may be repeated."""
        server = Server(self, '--run', 'demo=' + self.run_of('shapes'), '--queue', '1', '--max-delay-us', '10000000')
        pixel = {'inputs': [{'name': 'input', 'datatype': 'UINT8', 'shape': [1, 1, 1, 3], 'data': [1, 2, 3]}]}
        first = http.client.HTTPConnection('127.0.0.1', server.port, timeout=WAIT_S)
        first.request('POST', '/v2/models/demo/infer', json.dumps(pixel))
        while server.count('dyno_queue_samples{model="demo"}') != 1:
            pass
        status, headers, data = server.ask('/v2/models/demo/infer', json.dumps(pixel))
        self.assertEqual((status, headers['Retry-After']), (503, '1'), data)
        self.assertIn('queue is full', json.loads(data)['error'])
        # Stopping does not wait for the batching delay, and all accepted requests are answered.
        self.assertIn('every request answered', server.stop())
        answer = first.getresponse()
        self.assertEqual((answer.status, len(json.loads(answer.read())['outputs'][0]['data'])), (200, 4))

    def test_token(self):
        with open(self.path('token'), 'w') as file:
            file.write(TOKEN + '\n')
        server = Server(self, '--run', 'demo=' + self.run_of('shapes'), '--token-file', 'token')
        self.assertEqual(server.ask('/v2/health/ready')[0], 200)
        for path in '/v2', '/metrics', '/v2/models/demo', '/v2/models/other', '/nowhere':
            for headers in {}, {'Authorization': f'Bearer {TOKEN}x'}, {'Authorization': f'Bearer {TOKEN[:-1]}'}, {'Authorization': TOKEN}:
                status, answered, _ = server.ask(path, headers=headers)
                self.assertEqual((status, answered['WWW-Authenticate']), (401, 'Bearer'), path)
        status, _, data = server.ask('/v2/models/demo/infer', b'x' * 1000)
        self.assertEqual(status, 401, data)
        self.assertEqual(server.ask('/v2', headers={'Authorization': f'Bearer {TOKEN}'})[0], 200)
        server.stop()

    def test_tls(self):
        """Requests are answered over TLS, several on a connection, and by the certificate that was
        named; a client that speaks no TLS gets no answer and disturbs no other."""
        for name, text in ('both.pem', CERTIFICATE + KEY), ('certificate.pem', CERTIFICATE), ('key.pem', KEY):
            with open(self.path(name), 'w') as file:
                file.write(text)
        context = ssl.create_default_context(cadata=CERTIFICATE)
        run = self.run_of('poses')
        body = json.dumps({'inputs': [{'name': 'input', 'shape': [1, 16, 16, 3], 'datatype': 'UINT8', 'data': [7] * 768}]})
        for arguments in ['--tls-certificate', 'both.pem'], ['--tls-certificate', 'certificate.pem', '--tls-key', 'key.pem']:
            server = Server(self, '--run', 'pose=' + run, *arguments)
            self.assertTrue(server.listening['url'].startswith('https://127.0.0.1:'))
            with socket.create_connection(('127.0.0.1', server.port), timeout=WAIT_S) as plain:
                plain.sendall(b'GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n')
                answer = b''
                with contextlib.suppress(ConnectionResetError):
                    while part := plain.recv(1000):
                        answer += part
                self.assertNotIn(b'HTTP/1.1 200', answer)
            connection = http.client.HTTPSConnection('127.0.0.1', server.port, timeout=WAIT_S, context=context)
            for _ in range(3):
                status, _, data = server.ask('/v2/models/pose/infer', body, connection=connection)
                self.assertEqual(status, 200, data)
            self.assertIn(b'dyno', server.ask('/metrics', connection=connection)[2])
            self.assertIsNotNone(connection.sock, 'the connection was not kept')
            connection.close()
            silent = [socket.create_connection(('127.0.0.1', server.port), timeout=WAIT_S) for _ in range(3)]  # no handshake until the end
            other = http.client.HTTPSConnection('127.0.0.1', server.port, timeout=WAIT_S)
            with self.assertRaises(ssl.SSLCertVerificationError):
                other.request('GET', '/v2')
            server.stop()
            for one in silent:
                one.close()

    def test_certificates_are_checked_at_the_start(self):
        for name, text in ('certificate.pem', CERTIFICATE), ('key.pem', KEY), ('other.pem', OTHER_KEY):
            with open(self.path(name), 'w') as file:
                file.write(text)
        run = self.run_of('shapes')
        for arguments, texts in ((['--tls-key', 'key.pem'], ['--tls-certificate']),
                                 (['--tls-certificate', 'certificate.pem'], ['certificate.pem', '--tls-key']),
                                 (['--tls-certificate', 'key.pem', '--tls-key', 'key.pem'], ['key.pem']),
                                 (['--tls-certificate', 'gone.pem', '--tls-key', 'key.pem'], ['gone.pem']),
                                 (['--tls-certificate', 'certificate.pem', '--tls-key', 'gone.pem'], ['certificate.pem', 'gone.pem']),
                                 (['--tls-certificate', 'certificate.pem', '--tls-key', 'other.pem'], ['certificate.pem', 'other.pem'])):
            told = self.run_it('serve', '--run', run, *arguments, expect=2).stderr.decode()
            for text in texts:
                self.assertIn(text, told)

    def test_what_is_refused_at_the_start(self):
        run = self.run_of('shapes')
        for arguments, code, text in (
                ([], 2, '--run'), (['--run', run, '--listen', '0.0.0.0:0'], 2, '--token-file'),
                (['--run', run, '--listen', 'nowhere.invalid'], 2, 'ADDRESS:PORT'), (['--run', run, '--run', run], 2, 'two models'),
                (['--run', 'a b=' + run], 3, 'a b='), (['--run', 'x=/nonexistent'], 3, 'weights.safetensors'),
                (['--run', run, '--max-batch', '0'], 2, 'max-batch'), (['--run', run, '--max-body', '1025'], 2, 'max-body'),
                (['--run', run, '--token-file', 'gone'], 2, 'gone'), (['--run', run, '--token-file', 'x', '--no-token'], 2, 'contradict')):
            told = self.run_it('serve', *arguments, expect=code).stderr.decode()
            self.assertIn(text, told)
        # The name of a folder that is there may have a “=”.
        shutil.copytree(run, self.path('x=1/run'))
        told = self.run_it('serve', '--run', 'x=1/run', '--run', 'run=' + run, expect=2).stderr.decode()
        self.assertIn('two models', told)
        with socket.create_server(('127.0.0.1', 0)) as used:
            told = self.run_it('serve', '--run', run, '--listen', f'127.0.0.1:{used.getsockname()[1]}', expect=2).stderr.decode()
        self.assertIn('cannot be used', told)

    @unittest.skipUnless(PRELOAD, 'a sanitizer is the first library')
    def test_slow_clients_are_let_go(self):
        """Four connections are closed by the server's clock, which is advanced for this: one that
        sends nothing, one that stops within its headers, one whose request never ends, and one that
        was answered."""
        with open(self.path('clock'), 'wb') as file:
            file.write(bytes(8))
        hours = 0

        def wait_for_end(client):
            nonlocal hours
            while not select.select([client], [], [], 0)[0]:
                hours += 1
                self.assertLess(hours, 50000, 'it is not ended')
                with open(self.path('clock'), 'r+b') as file:
                    file.write(struct.pack('q', hours * 3600 * 10**9))
                time.sleep(0.01)
            return client.recv(1)

        server = Server(self, '--run', 'demo=' + self.run_of('shapes'), '--timeout', '3000',
                        environment=dict(self.environment, LD_PRELOAD=PRELOAD, DYNO_TEST_CLOCK=self.path('clock')))
        for text in b'', b'POST /v2/models/demo/infer HT', b'POST /v2/models/demo/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{':
            with socket.create_connection(('127.0.0.1', server.port), timeout=WAIT_S) as client:
                client.sendall(text)
                self.assertEqual(wait_for_end(client), b'', text)
        with socket.create_connection(('127.0.0.1', server.port), timeout=WAIT_S) as client:
            client.sendall(b'GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n')
            answer = b''
            while b'true}' not in answer:
                part = client.recv(1000)
                self.assertTrue(part, answer)
                answer += part
            self.assertEqual(wait_for_end(client), b'')  # an idle connection
        self.assertEqual(server.ask('/v2/health/live')[0], 200)
        server.stop()

    def test_connections_are_limited(self):
        """The limit follows from the number of files that the process may open; connections above
        it are closed at once, and the server goes on."""
        server = Server(self, '--run', 'demo=' + self.run_of('shapes'), files=160)  # 32 connections
        clients = [socket.create_connection(('127.0.0.1', server.port), timeout=WAIT_S) for _ in range(33)]
        self.assertEqual(clients[32].recv(1), b'')
        for client in clients[:32]:  # each has sent one request and stays open, idle
            client.sendall(b'GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n')
            self.assertIn(b'200', client.recv(1000))
            client.shutdown(socket.SHUT_WR)
        for client in clients[:32]:
            while client.recv(1000):
                pass  # waits until the server has closed its end too
        for client in clients:
            client.close()
        self.assertEqual(server.ask('/v2/health/live')[0], 200)
        server.stop()

    def test_accepts_again_after_files_ran_out(self):
        # The driver writes its cache in a thread, which would open and close files meanwhile.
        server = Server(self, '--run', 'demo=' + self.run_of('shapes'), environment={**self.environment, 'MESA_SHADER_CACHE_DISABLE': 'true'})
        pid = server.process.pid
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        n_files = 1 + max(int(name) for name in os.listdir(f'/proc/{pid}/fd'))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (n_files, before[1]))
        client = socket.create_connection(('127.0.0.1', server.port), timeout=WAIT_S)
        client.sendall(b'GET /v2/health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
        free = set(range(n_files)) - {int(name) for name in os.listdir(f'/proc/{pid}/fd')}
        self.assertEqual(free, set())
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        self.assertIn(b'200', client.recv(100))
        client.close()
        server.stop()

    def test_device_lost(self):
        """Waiting requests are answered with 500, and the process exits with the code of a lost
        device."""
        environment = dict(self.environment, VK_ADD_LAYER_PATH=LAYER, VK_INSTANCE_LAYERS='VK_LAYER_DYNO_faults', DYNO_FAULTS='lost=1,thread=dyno-batcher')
        server = Server(self, '--run', 'demo=' + self.run_of('shapes'), environment=environment)
        pixel = {'datatype': 'UINT8', 'shape': [1, 1, 1, 3], 'data': [1, 2, 3]}
        self.assertIn('VK_ERROR_DEVICE_LOST', server.infer('demo', pixel, expect=500)['error'])
        out, error = server.process.communicate(timeout=WAIT_S)
        self.assertEqual(server.process.returncode, 5, error.decode())
        self.assertEqual([json.loads(line)['code'] for line in out.decode().splitlines()], [5])


if __name__ == '__main__':
    main()
