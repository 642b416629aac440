# SPDX-License-Identifier: MIT
"""servemasks.py DYNOCTL LAYER: dynoctl serve with weights for a class for each pixel: its masks
equal those of dynoctl predict, as tensors and as images.  LAYER is not used here."""
import http.client, json, math, os, shutil, struct, subprocess, sys, tempfile, threading
from fractions import Fraction
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dynoctl import Case, PROGRAM, main
from masks import read_ids
from serve import Server, WAIT_S, png

SIZE, CLASSES, IGNORED = 16, 4, 255
INFER = '/v2/models/drawn/infer'


def restore(rows, width, height):
    """Scales masks of the network's size to the size of their picture, which was scaled to cover it
    and cropped to the centre."""
    step = min(Fraction(width, SIZE), Fraction(height, SIZE))
    at = [[math.ceil((pixel + Fraction(1, 2) - (side - step * SIZE) / 2) / step) - 1 for pixel in range(side)] for side in (width, height)]
    return [[rows[y][x] if 0 <= x < SIZE and 0 <= y < SIZE else IGNORED for x in at[0]] for y in at[1]]


class ServeMasks(Case):
    @classmethod
    def setUpClass(cls):
        cls.runs = tempfile.mkdtemp(prefix='dynoctl-runs-')
        subprocess.run([PROGRAM, 'train', '--data', f'builtin:masks?size={SIZE}&samples=40', '--model', 'unet_small', '--set', 'model.width=0.25',
                        '--set', f'image_size={SIZE}', '--set', 'batch_size=8', '--set', 'amp=false', '--set', 'workers=1', '--set', 'autotune=false',
                        '--set', 'lr=0.01', '--steps', '15', '--set', 'data.val_split=0', '--out', os.path.join(cls.runs, 'drawn')],
                       check=True, env=dict(os.environ, XDG_DATA_HOME=cls.runs), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.runs, ignore_errors=True)

    def serve(self, *arguments):
        return Server(self, '--run', os.path.join(self.runs, 'drawn'), *arguments)

    def predict(self, pictures):
        """Returns dynoctl's masks of the pictures, in order."""
        for name in 'in', 'out':
            shutil.rmtree(self.path(name), ignore_errors=True)
            os.makedirs(self.path(name))
        for i, data in enumerate(pictures):
            with open(self.path(f'in/{i:03}.png'), 'wb') as file:
                file.write(data)
        lines = self.events(self.lines('predict', '--run', os.path.join(self.runs, 'drawn'), 'in', '--masks', 'out', '--json'), 'prediction')
        return [read_ids(self.path(line['mask'])) for line in lines]

    def test_masks_are_those_of_predict(self):
        pictures = [png(SIZE, SIZE, seed) for seed in range(1, 6)]
        masks = self.predict([file for file, _ in pictures])
        # If all pixels had one class, the mask of any picture would be correct.
        self.assertGreater(len({value for mask in masks for row in mask for value in row}), 1)
        server = self.serve('--max-batch', '3')
        self.check_metadata(server)
        for (file, pixels), mask in zip(pictures, masks):
            flat = [value for row in mask for value in row]
            shares = [flat.count(k) / len(flat) for k in range(CLASSES)]
            told = server.infer('drawn', {'datatype': 'UINT8', 'shape': [1, SIZE, SIZE, 3], 'data': list(pixels)})
            self.assertEqual([one['name'] for one in told['outputs']], ['mask', 'shares'])
            self.assertEqual((told['outputs'][0]['datatype'], told['outputs'][0]['shape']), ('UINT8', [1, SIZE, SIZE]))
            self.assertEqual(told['outputs'][0]['data'], flat)
            self.assertEqual(told['outputs'][1]['data'], shares)
            told, = server.ask_json(INFER, file, headers={'Content-Type': 'image/png'})['outputs']
            self.assertEqual((told['name'], told['data']), ('shares', shares))
            self.assertEqual(len(told['parameters']['labels']), CLASSES)
            self.assertIn('Accept: image/png', told['parameters']['mask'])
        self.check_binary(server, pictures, masks)
        self.assertIn('every request answered', server.stop())

    def check_metadata(self, server):
        told = server.ask_json('/v2/models/drawn')
        self.assertEqual([(one['name'], one['datatype'], one['shape']) for one in told['outputs']],
                         [('mask', 'UINT8', [-1, SIZE, SIZE]), ('shares', 'FP32', [-1, CLASSES])])
        self.assertEqual(told['inputs'][0]['shape'], [-1, -1, -1, 3])

    def check_binary(self, server, pictures, masks):
        """Sends more samples than a batch has; inputs and outputs are binary."""
        data = b''.join(bytes(pixels) for _, pixels in pictures)
        header = json.dumps({'inputs': [{'name': 'input', 'datatype': 'UINT8', 'shape': [len(pictures), SIZE, SIZE, 3],
                                         'parameters': {'binary_data_size': len(data)}}],
                             'outputs': [{'name': 'mask', 'parameters': {'binary_data': True}}]}).encode()
        status, headers, answer = server.ask(INFER, header + data, {'Inference-Header-Content-Length': str(len(header))})
        self.assertEqual(status, 200, answer)
        length = int(headers['Inference-Header-Content-Length'])
        self.assertEqual(json.loads(answer[:length])['outputs'][0]['parameters'], {'binary_data_size': len(pictures) * SIZE ** 2})
        self.assertEqual(answer[length:], bytes(value for mask in masks for row in mask for value in row))

    def test_image_for_an_image(self):
        """The mask has the size of the picture, and pixels that were cropped are marked as
        ignored."""
        server = self.serve()
        for width, height in (SIZE, SIZE), (40, 25), (9, 30), (33, 33):
            file, pixels = png(width, height, 3)
            told = server.infer('drawn', {'datatype': 'UINT8', 'shape': [1, height, width, 3], 'data': list(pixels)}, [{'name': 'mask'}])
            flat = told['outputs'][0]['data']
            rows = [flat[SIZE * y:SIZE * (y + 1)] for y in range(SIZE)]
            for accept in 'image/png', 'text/html, image/png;q=0.9, */*;q=0.5', 'image/png, */*', 'IMAGE/PNG, application/json':
                status, headers, answer = server.ask(INFER, file, {'Content-Type': 'image/png', 'Accept': accept})
                self.assertEqual((status, headers['Content-Type']), (200, 'image/png'), answer)
                with open(self.path('answer.png'), 'wb') as out:
                    out.write(answer)
                self.assertEqual(read_ids(self.path('answer.png')), restore(rows, width, height), (width, height))
            self.assertEqual(self.predict([file]), [restore(rows, width, height)])
            for accept in '*/*', 'application/json', 'image/png;q=0.1, application/json', 'image/jpeg', 'application/json, image/png', '*/*, image/png', \
                    'application/*, image/png':
                status, headers, answer = server.ask(INFER, file, {'Content-Type': 'image/png', 'Accept': accept})
                self.assertEqual((status, headers['Content-Type']), (200, 'application/json'), accept)
                self.assertEqual(json.loads(answer)['outputs'][0]['name'], 'shares')
        server.stop()

    def test_many_clients_share_batches(self):
        """Each of 120 answers belongs to its own picture, whatever its batch; broken files do not
        affect others."""
        pictures = [png(SIZE, SIZE, seed) for seed in range(1, 7)]
        masks = self.predict([file for file, _ in pictures])
        server = self.serve('--max-batch', '4', '--max-delay-us', '2000')
        told = []

        def ask(number):
            connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=WAIT_S)
            for turn in range(20):
                at = number + turn
                body = pictures[at % 6][0] if turn % 10 != 7 else pictures[at % 6][0][:-20]
                told.append((at, turn, *server.ask(INFER, body, {'Content-Type': 'image/png', 'Accept': 'image/png'}, connection=connection)))
            connection.close()

        clients = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        self.assertEqual(len(told), 120)
        for at, turn, status, _, answer in told:
            self.assertEqual(status, 400 if turn % 10 == 7 else 200, answer)
            if status == 200:
                with open(self.path('answer.png'), 'wb') as out:
                    out.write(answer)
                self.assertEqual(read_ids(self.path('answer.png')), masks[at % 6])
        self.assertEqual(server.count('dyno_batch_samples_sum{model="drawn"}'), 108)
        server.stop()

    def test_limits(self):
        server = self.serve('--max-body', '1')
        each = SIZE ** 2 * 5 + CLASSES * 32
        pixel = {'datatype': 'UINT8', 'data': [1, 2, 3]}
        most = (1 << 20) // each
        # The first request is refused only for its data.
        for n, status in (most, 400), (most + 1, 413):
            told = server.infer('drawn', {**pixel, 'shape': [n, 1, 1, 3]}, expect=status)
            self.assertIn('inputs[0].data' if status == 400 else 'send fewer', told['error'])
        large = png(1000, 600, 2)[0]
        told = server.ask_json(INFER, large, expect=413, headers={'Content-Type': 'image/png', 'Accept': 'image/png'})
        self.assertIn('1000 x 600', told['error'])
        self.assertIn('max-body', told['error'])
        server.ask_json(INFER, large, headers={'Content-Type': 'image/png'})
        told = server.infer('drawn', {**pixel, 'shape': [1, 1, 1, 3]}, [{'name': 'probabilities'}], expect=400)
        self.assertIn('“mask” and “shares”', told['error'])
        for i in range(30):  # each request frees all of its memory
            status, _, answer = server.ask(INFER, png(700, 700, 2)[0], {'Content-Type': 'image/png', 'Accept': 'image/png'})
            self.assertEqual(status, 200, answer)
        server.stop()


if __name__ == '__main__':
    main()
