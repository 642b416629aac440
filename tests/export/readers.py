#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""readers.py FOLDER...: reads exported settings as their target programs do.

FOLDER holds the files of one export of the same settings under their usual names (`dynoctl export
--list`), including settings.json, which has the values that the others must have; or FOLDER holds
such folders.  exports.py --keep FOLDER makes some.  Each format is read by the real program's own
code where that is installed, and by a strict small reader of the language in any case; every value
is compared.  A line for each format names the reader that was used and those that are missing; the
exit code is 1 if a value differs, or a reader refuses the file.

Needs Python 3.9 and nothing else."""
import ast, importlib, inspect, json, math, os, re, shutil, subprocess, sys, tempfile

VISION_MODELS = ('resnet18', 'resnet34', 'resnet50', 'resnet101', 'resnext50_32x4d', 'efficientnet_b0')
TIMM_MODELS = VISION_MODELS + ('vit_tiny_patch16_224', 'vit_small_patch16_224')
# As torchvision calls them.
TORCH_OPTIMIZERS = {'sgd': 'SGD', 'adamw': 'AdamW', 'adam': 'Adam', 'rmsprop': 'RMSprop', 'lion': 'Lion'}
WITH_MOMENTUM = ('sgd', 'rmsprop')
REFERENCE_MODELS = {**{name: name for name in VISION_MODELS + ('vit_b_16', 'mobilenet_v3_small', 'mobilenet_v3_large', 'convnext_tiny', 'efficientnet_v2_s', 'densenet121', 'regnet_x_400mf', 'regnet_y_400mf')},
                    'mobilenetv2': 'mobilenet_v2'}
DROPOUT_MODELS = ('mobilenetv2', 'mobilenet_v3_small', 'mobilenet_v3_large', 'efficientnet_b0',
                  'efficientnet_v2_s')


class Wrong(Exception):
    pass


def same(what, got, expected):
    """Compares numbers by value and type: the word 1e-05 is no number, and 1 is not True."""
    kinds = {type(got), type(expected)}
    if isinstance(expected, float) and kinds == {int, float}:
        kinds = {float}
    if got != expected or len(kinds) > 1:
        raise Wrong(f'{what} is {got!r}, not {expected!r}')


def same_all(got, expected, path=''):
    """Compares all keys at every depth, without missing or additional ones."""
    if set(got) != set(expected):
        raise Wrong(f'{path or "the file"}: keys that are too many or missing: {sorted(set(got) ^ set(expected))}')
    for key, value in expected.items():
        if isinstance(value, dict):
            if not isinstance(got[key], dict):
                raise Wrong(f'{path}{key} is {got[key]!r}')
            same_all(got[key], value, f'{path}{key}.')
        elif isinstance(value, list):
            same(f'number of {path}{key}', len(got[key]), len(value))
            for i, element in enumerate(value):
                same(f'{path}{key}[{i}]', got[key][i], element)
        else:
            same(path + key, got[key], value)


# --- small readers ---------------------------------------------------------------------------------------------------


def read_json(path):
    def object_of(pairs):
        if len({key for key, value in pairs}) != len(pairs):
            raise Wrong('a key stands twice')
        return dict(pairs)

    def refuse(word):
        raise Wrong(f'{word} is no JSON')

    with open(path, encoding='utf-8') as file:
        return json.load(file, object_pairs_hook=object_of, parse_constant=refuse)


def read_yaml_scalar(text):
    """A scalar in YAML 1.1, as PyYAML reads it."""
    if text.startswith('"'):
        if not re.fullmatch(r'"([^"\\]|\\["\\nrt]|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\U[0-9a-f]{8})*"', text):
            raise Wrong(f'{text} is no quoted word')
        return ast.literal_eval(text)
    if text.startswith("'"):
        if not re.fullmatch(r"'[^']*'", text):
            raise Wrong(f'{text} is no quoted word')
        return text[1:-1]
    if text.startswith('['):
        if not text.endswith(']'):
            raise Wrong(f'{text} is no list')
        return [read_yaml_scalar(part.strip()) for part in text[1:-1].split(',')]
    if text in ('null', 'true', 'false'):
        return {'null': None, 'true': True, 'false': False}[text]
    if re.fullmatch(r'-?(0|[1-9][0-9]*)', text):
        return int(text)
    if re.fullmatch(r'-?[0-9]+\.[0-9]*([eE][-+][0-9]+)?', text):
        return float(text)
    if text.lower() in ('yes', 'no', 'on', 'off', 'y', 'n', '~') or not re.fullmatch(r'[A-Za-z_][\w.]*', text):
        raise Wrong(f'{text} needs quotes')
    return text


def read_yaml(path):
    """Reads nested maps with one key per line; any other YAML is refused."""
    with open(path, encoding='utf-8') as file:
        text = file.read()
    if re.search('[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]', text):
        raise Wrong('a sign that YAML does not take, or that ends a line')
    top, levels = {}, []
    levels.append((0, top))
    for line in text.split('\n'):
        if not line.strip() or line.lstrip().startswith('#'):
            continue
        match = re.fullmatch(r'( *)([A-Za-z_]\w*):(?: ("(?:[^"\\]|\\.)*"|\'[^\']*\'|[^\s#"\'][^#"\']*?))?(?:  # .*)?', line)
        if not match:
            raise Wrong(f'not understood: {line}')
        indent, key, value = len(match[1]), match[2], match[3]
        while levels[-1][0] > indent:
            levels.pop()
        if levels[-1][0] != indent or key in levels[-1][1]:
            raise Wrong(f'indented wrongly, or there twice: {line}')
        levels[-1][1][key] = {} if value is None else read_yaml_scalar(value)
        if value is None:
            levels.append((indent + 2, levels[-1][1][key]))
    module = find_module('yaml')
    if module:
        same_all(module.safe_load(text), top)
    return top


def read_python(path):
    """Returns the constants of the script, and its syntax tree."""
    with open(path, encoding='utf-8') as file:
        text = file.read()
    tree = ast.parse(text)
    compile(text, path, 'exec', dont_inherit=True)
    constants = {node.targets[0].id: ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign)}
    return constants, tree


def run_shell(path, arguments, environment, script=None):
    """Returns the arguments of torchrun, and OMP_NUM_THREADS; the file that it would run is copied
    to script."""
    with tempfile.TemporaryDirectory() as folder:
        fake = os.path.join(folder, 'torchrun')
        with open(fake, 'w', encoding='utf-8') as file:
            file.write('#!/bin/bash\nprintf "%s\\0" "$OMP_NUM_THREADS" "$@"\n'
                       'if [ -n "${SCRIPT-}" ]; then cp "${@: -1}" "$SCRIPT"; fi\n')
        os.chmod(fake, 0o755)
        environment = {'PATH': folder + ':' + os.environ['PATH'], 'TMPDIR': folder, **environment}
        if script:
            environment['SCRIPT'] = script
        done = subprocess.run(['bash', os.path.abspath(path), *arguments], cwd=folder, env=environment, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0 or done.stderr:
            raise Wrong(f'it ends with {done.returncode}: {done.stderr.decode()}')
        if os.listdir(folder) != ['torchrun']:
            raise Wrong(f'it leaves files: {os.listdir(folder)}')
        return [os.fsdecode(word) for word in done.stdout.split(b'\0')[:-1]]


# --- the real programs -----------------------------------------------------------------------------------------------


def find_module(name):
    try:
        return importlib.import_module(name)
    except Exception:  # a program that is installed but does not start counts as missing, too
        return None


def is_missing(error):
    """Whether a program is installed without everything that its reader needs, which is no error of
    the file.  The error has a module's name where Python searched for it; Lightning raises the same
    error without one.  A missing module of an installed package is the error of a wrong file."""
    while error:
        if isinstance(error, ModuleNotFoundError):
            return not error.name or not find_module(error.name.split('.')[0])
        if isinstance(error, ImportError) and re.search(r"Requirement '.*' not met", str(error)):
            return True
        error = error.__cause__
    return False


def version(module):
    return getattr(module, '__version__', '?')


# --- expected values -------------------------------------------------------------------------------------------------


class Settings:
    def __init__(self, folder):
        whole = read_json(os.path.join(folder, 'settings.json'))
        self.run, self.settings = whole['run'], whole['settings']
        self.data, self.model = self.run['data'], self.run['model']
        self.__dict__.update({key.replace('.', '_'): value for key, value in self.settings.items()})
        self.path = None if not self.data or self.data.startswith(('builtin:', 'synthetic:')) else self.data
        self.seed32 = self.seed % 2 ** 32
        self.find_facts()

    def find_facts(self):
        """For builtin:shapes the classes are equally frequent; other data are unknown."""
        match = re.fullmatch(r'builtin:shapes\?size=(\d+)&samples=(\d+)&classes=(\d+)', self.data or '')
        self.known = bool(match)
        if not match:
            return
        size, samples, self.classes = map(int, match.groups())
        # Each class gives its share to the test, and of the rest to the validation; the rounding
        # remainder is carried to the next class.
        counts = [samples // self.classes] * self.classes
        for share in (self.data_test_split, 0 if self.data_folds > 0 else self.data_val_split):
            due = 0
            for i in range(self.classes if share > 0 else 0):
                due += counts[i] * share
                n = min(max(int(max(due + 0.5e-6, 0)), 1), counts[i] - 1)
                due -= n
                counts[i] -= n
        self.n_train = sum(counts)
        if self.data_folds > 0:  # sizes as equal as possible, the larger folds first
            self.n_train -= self.n_train // self.data_folds + (self.data_fold <= self.n_train % self.data_folds)
        batches = self.n_train // min(self.batch_size, self.n_train)
        self.steps = -(-batches // self.accumulate)
        self.warmup_steps = math.floor(self.warmup_epochs * self.steps)
        self.size = self.image_size or size

    def class_weights(self):
        """A number for each class, if the classes are known; tests/export/formats.c tests weights
        by name."""
        return [float(word) for word in self.loss_weights.split(',')] if self.loss_weights and self.known else None

    def floats(self, *names):
        return [float(getattr(self, name)) for name in names]


def check_trainingarguments(path, s):
    expected = {
        'output_dir': 'output', 'num_train_epochs': s.epochs, 'per_device_train_batch_size': s.batch_size,
        'per_device_eval_batch_size': s.batch_size, 'gradient_accumulation_steps': s.accumulate, 'fp16': s.amp,
        'dataloader_num_workers': s.workers, 'dataloader_pin_memory': s.pinned, 'dataloader_drop_last': True,
        'learning_rate': float(s.lr),
        'weight_decay': float(s.weight_decay), 'label_smoothing_factor': float(s.label_smoothing),
        'max_grad_norm': float(s.clip_norm), 'gradient_checkpointing': s.checkpointing,
        'full_determinism': s.deterministic, 'seed': s.seed32,
    }
    if s.optimizer != 'adam':
        expected['optim'] = {'sgd': 'sgd', 'adamw': 'adamw_torch', 'rmsprop': 'rmsprop', 'lion': 'lion_32bit'}[s.optimizer]
    if s.optimizer == 'lion':
        expected['adam_beta2'] = 0.99
    if not s.amp:
        expected['tf32'] = False
    if s.workers > 0:
        expected.update(dataloader_prefetch_factor=s.prefetch, dataloader_persistent_workers=s.persistent_workers)
    if s.known:
        expected['warmup_steps'] = s.warmup_steps
    if s.schedule == 'cosine':
        expected['lr_scheduler_type'] = 'cosine'
    elif s.schedule == 'constant':
        expected['lr_scheduler_type'] = 'constant_with_warmup' if s.known and s.warmup_steps else 'constant'
    same_all(read_json(path), expected)
    transformers, torch = find_module('transformers'), find_module('torch')
    if not transformers or not torch or not find_module('accelerate'):
        return 'transformers (with torch and accelerate) is missing'
    if s.amp and not torch.cuda.is_available():
        return 'transformers takes fp16 on a GPU alone'
    with tempfile.TemporaryDirectory() as folder:
        before = os.getcwd()
        os.chdir(folder)
        try:
            arguments, = transformers.HfArgumentParser(transformers.TrainingArguments).parse_json_file(
                os.path.join(before, path), allow_extra_keys=False)
        finally:
            os.chdir(before)
    for key, value in expected.items():
        got = getattr(arguments, key)
        got = getattr(got, 'value', got)
        if key != 'output_dir':
            same(key, float(got) if isinstance(value, float) else got, value)
    return f'transformers {version(transformers)}'


def check_deepspeed(path, s):
    parameters = {'lr': float(s.lr), 'weight_decay': float(s.weight_decay)}
    if s.optimizer in WITH_MOMENTUM:
        parameters['momentum'] = float(s.momentum)
    if s.optimizer == 'lion':  # otherwise DeepSpeed uses Adam's
        parameters['betas'] = [0.9, 0.99]
    if s.optimizer == 'adam':  # otherwise DeepSpeed uses AdamW
        parameters['adam_w_mode'] = False
    expected = {
        'train_micro_batch_size_per_gpu': s.batch_size, 'gradient_accumulation_steps': s.accumulate,
        'gradient_clipping': float(s.clip_norm), 'fp16': {'enabled': s.amp},
        'optimizer': {'type': TORCH_OPTIMIZERS[s.optimizer], 'params': parameters},
    }
    if s.known and s.schedule == 'cosine':
        expected['scheduler'] = {'type': 'WarmupCosineLR', 'params': {
            'total_num_steps': s.steps * s.epochs, 'warmup_min_ratio': 0.0, 'cos_min_ratio': 0.0,
            'warmup_num_steps': s.warmup_steps, 'warmup_type': 'linear'}}
    elif s.known and s.schedule == 'constant':
        expected['scheduler'] = {'type': 'WarmupLR', 'params': {
            'warmup_min_lr': 0.0, 'warmup_max_lr': float(s.lr), 'warmup_num_steps': s.warmup_steps,
            'warmup_type': 'linear'}}
    same_all(read_json(path), expected)
    deepspeed = find_module('deepspeed')
    if not deepspeed:
        return 'deepspeed is missing'
    config = importlib.import_module('deepspeed.runtime.config').DeepSpeedConfig(path)
    same('train_micro_batch_size_per_gpu', config.train_micro_batch_size_per_gpu, s.batch_size)
    same('gradient_accumulation_steps', config.gradient_accumulation_steps, s.accumulate)
    same('gradient_clipping', float(config.gradient_clipping), float(s.clip_norm))
    same('optimizer', dict(config.optimizer_params), parameters)
    if 'scheduler' in expected:
        schedules = importlib.import_module('deepspeed.runtime.lr_schedules')
        known = inspect.signature(getattr(schedules, config.scheduler_name)).parameters
        unknown = set(config.scheduler_params) - set(known)
        if unknown:
            raise Wrong(f'{config.scheduler_name} takes no {sorted(unknown)}')
    return f'deepspeed {version(deepspeed)}'


def check_accelerate(path, s):
    expected = {
        'compute_environment': 'LOCAL_MACHINE', 'debug': False, 'distributed_type': 'NO', 'downcast_bf16': 'no',
        'gpu_ids': 'all', 'machine_rank': 0, 'main_training_function': 'main',
        'mixed_precision': 'fp16' if s.amp else 'no', 'num_machines': 1, 'num_processes': 1,
        'rdzv_backend': 'static', 'same_network': True, 'use_cpu': False,
    }
    same_all(read_yaml(path), expected)
    with open(path, encoding='utf-8') as file:
        text = file.read()
    if f'gradient_accumulation_steps={s.accumulate})' not in text:
        raise Wrong('no comment tells of accumulation')
    wanted = [(way, float(limit)) for way, limit in (('norm', s.clip_norm), ('value', s.clip_value)) if limit]
    # The accelerator's function scales the gradients back, which must not happen twice.
    same('calls that clip', [(of, way, float(limit)) for of, way, limit in re.findall(
        r'^# ([\w.]+)\.clip_grad_(\w+)_\(model.parameters\(\), (.*)\)$', text, re.M)],
         [('torch.nn.utils' if i else 'accelerator', *call) for i, call in enumerate(wanted)])
    accelerate = find_module('accelerate')
    if not accelerate:
        return 'accelerate is missing'
    config = importlib.import_module('accelerate.commands.config.config_args').load_config_from_file(path)
    for key, value in expected.items():
        got = getattr(config, key)
        same(key, getattr(got, 'value', got), value)
    return f'accelerate {version(accelerate)}'


def milestones(s):
    return [math.ceil(s.epochs / 3), math.ceil(2 * s.epochs / 3)]


def lightning_expected(s):
    trainer = {
        'accelerator': 'auto', 'devices': 1, 'precision': '16-mixed' if s.amp else '32-true', 'max_epochs': s.epochs,
        'accumulate_grad_batches': s.accumulate, 'gradient_clip_val': float(s.clip_norm or s.clip_value) or None,
        'benchmark': s.autotune and not s.deterministic, 'deterministic': s.deterministic,
    }
    if s.clip_norm or s.clip_value:  # Lightning clips in one of the two ways only
        trainer['gradient_clip_algorithm'] = 'norm' if s.clip_norm else 'value'
    optimizer = {'lr': float(s.lr), 'weight_decay': float(s.weight_decay)}
    if s.optimizer in WITH_MOMENTUM:
        optimizer['momentum'] = float(s.momentum)
    expected = {'seed_everything': s.seed32, 'trainer': trainer, 'optimizer': {
        'class_path': ('timm' if s.optimizer == 'lion' else 'torch') + '.optim.' + TORCH_OPTIMIZERS[s.optimizer], 'init_args': optimizer}}
    if s.schedule == 'cosine':
        expected['lr_scheduler'] = {'class_path': 'torch.optim.lr_scheduler.CosineAnnealingLR',
                                    'init_args': {'T_max': s.epochs}}
    elif s.schedule == 'step':
        expected['lr_scheduler'] = {'class_path': 'torch.optim.lr_scheduler.MultiStepLR',
                                    'init_args': {'milestones': milestones(s), 'gamma': 0.1}}
    return expected


def make_by_path(about, first):
    module, name = about['class_path'].rsplit('.', 1)
    return getattr(importlib.import_module(module), name)(first, **about['init_args'])


def check_lightning_parts(lightning, torch, expected):
    """Checks without the command line, for which jsonargparse is needed, the objects that it would
    make."""
    trainer = lightning.Trainer(**expected['trainer'], logger=False, enable_checkpointing=False)
    for key in ('accumulate_grad_batches', 'gradient_clip_val', 'max_epochs', 'precision'):
        same(f'{key} of the Trainer', getattr(trainer, key), expected['trainer'][key])
    optimizer = make_by_path(expected['optimizer'], [torch.nn.Parameter(torch.zeros(1))])
    for key, value in expected['optimizer']['init_args'].items():
        same(f'optimizer.{key}', optimizer.param_groups[0][key], value)
    if 'lr_scheduler' in expected:
        make_by_path(expected['lr_scheduler'], optimizer)
    lightning.seed_everything(expected['seed_everything'], verbose=False)
    return f'the Trainer of lightning {version(lightning)}; for its command line jsonargparse is missing'


def check_lightning(path, s):
    expected = lightning_expected(s)
    same_all(read_yaml(path), expected)
    lightning = find_module('lightning.pytorch') or find_module('pytorch_lightning')
    torch = find_module('torch')
    if not lightning:
        return 'lightning is missing'
    cli = find_module('lightning.pytorch.cli') or find_module('pytorch_lightning.cli')
    if not cli or not find_module('jsonargparse'):
        return check_lightning_parts(lightning, torch, expected) if torch else 'torch is missing'

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)

    path, before, arguments = os.path.abspath(path), os.getcwd(), sys.argv
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.argv = ['train']
        try:
            made = cli.LightningCLI(Model, run=False, args=['--config', path], save_config_callback=None)
            config = made.config.as_dict()
            for part in ('optimizer', 'lr_scheduler'):
                for key, value in expected.get(part, {}).get('init_args', {}).items():
                    same(f'{part}.{key}', config[part]['init_args'][key], value)
            for key, value in expected['trainer'].items():
                got = config['trainer'][key]
                same(f'trainer.{key}', str(got) if key == 'devices' else got, str(value) if key == 'devices' else value)
            same('seed_everything', config['seed_everything'], s.seed32)
            same('accumulate_grad_batches of the Trainer', made.trainer.accumulate_grad_batches, s.accumulate)
            same('gradient_clip_val of the Trainer', made.trainer.gradient_clip_val, expected['trainer']['gradient_clip_val'])
        finally:
            os.chdir(before)
            sys.argv = arguments
    return f'lightning {version(lightning)}'


def colours(s):
    shares = [float(s.augment_brightness), float(s.augment_contrast), float(s.augment_saturation)]
    if s.augment_hue:
        shares.append(float(s.augment_hue))
    return shares if any(shares) else 0.0


def timm_expected(s):
    expected = {
        'batch_size': s.batch_size, 'grad_accum_steps': s.accumulate, 'amp': s.amp, 'amp_dtype': 'float16',
        'channels_last': True, 'workers': s.workers, 'pin_mem': s.pinned,
        'opt': 'momentum' if s.optimizer == 'sgd' else s.optimizer, 'lr': float(s.lr), 'momentum': float(s.momentum),
        'weight_decay': float(s.weight_decay), 'clip_grad': float(s.clip_norm or s.clip_value) or None,
        'clip_mode': 'value' if s.clip_value and not s.clip_norm else 'norm', 'epochs': s.epochs, 'sched_on_updates': True, 'warmup_epochs': float(s.warmup_epochs),
        'warmup_lr': 0.0, 'cooldown_epochs': 0, 'scale': [float(s.augment_crop or 1), 1.0],
        'ratio': [1 / s.augment_crop_ratio, float(s.augment_crop_ratio)] if s.augment_crop else [1.0, 1.0],
        'hflip': 0.5 if s.augment_flip else 0.0, 'vflip': 0.5 if s.augment_flip_vertical else 0.0,
        'color_jitter': colours(s), 'reprob': float(s.augment_erase), 'remode': 'const',
        'mixup': float(s.augment_mixup), 'cutmix': float(s.augment_cutmix), 'mixup_prob': 1.0, 'mixup_switch_prob': 0.5,
        'mixup_mode': 'batch',
        'smoothing': float(s.label_smoothing), 'model_ema': s.ema_decay > 0,
        **({'model_ema_decay': float(s.ema_decay)} if s.ema_decay else {}),
        **({'layer_decay': float(s.layer_decay)} if s.layer_decay < 1 else {}),
        'drop': float(s.model_dropout) if s.model in DROPOUT_MODELS else 0.0,
        'grad_checkpointing': s.checkpointing, 'seed': s.seed32,
    }
    if s.optimizer == 'rmsprop':
        expected['opt_kwargs'] = {'alpha': 0.99}
    expected.update({'cosine': {'sched': 'cosine', 'min_lr': 0.0},
                     'step': {'sched': 'multistep', 'decay_milestones': milestones(s), 'decay_rate': 0.1},
                     'constant': {'sched': 'step', 'decay_epochs': s.epochs, 'decay_rate': 1.0}}[s.schedule])
    if s.path:
        expected['data_dir'] = s.path
    if s.model in TIMM_MODELS:
        expected['model'] = s.model
    if s.known:
        expected.update(num_classes=s.classes, img_size=s.size)
    elif s.image_size:
        expected['img_size'] = s.image_size
    return expected


def check_timm(path, s):
    expected = timm_expected(s)
    same_all(read_yaml(path), {**expected, **({'data_dir': to_yaml(s.path)} if s.path else {})})
    timm, torch = find_module('timm'), find_module('torch')
    if not timm or not torch or not find_module('yaml'):
        return 'timm, torch or yaml is missing'
    optim, scheduler = importlib.import_module('timm.optim'), importlib.import_module('timm.scheduler')
    import argparse
    parser = argparse.ArgumentParser()
    parser.set_defaults(**find_module('yaml').safe_load(open(path, encoding='utf-8')))
    # The defaults of train.py, for settings that the file does not have.
    config = argparse.Namespace(**{'opt_eps': None, 'opt_betas': None, 'layer_decay': None, 'min_lr': 0.0,
                                   'decay_epochs': 90, 'decay_rate': 0.1, 'decay_milestones': [90], 'patience_epochs': 10,
                                   'lr_noise': None, 'lr_noise_pct': 0.67, 'lr_noise_std': 1.0, 'lr_cycle_mul': 1.0,
                                   'lr_cycle_decay': 0.5, 'lr_cycle_limit': 1, 'lr_k_decay': 1.0, 'warmup_prefix': False,
                                   'step_on_epochs': False, 'plateau_mode': 'max', 'eval_metric': 'top1',
                                   **vars(parser.parse_args([]))})
    model = torch.nn.Linear(2, 2)
    made = optim.create_optimizer_v2(model, **optim.optimizer_kwargs(cfg=config))
    same('optimizer', type(made).__name__, TORCH_OPTIMIZERS[s.optimizer])
    group = made.param_groups[-1]
    same('lr', float(group['lr']), float(s.lr))
    same('weight_decay', max(g['weight_decay'] for g in made.param_groups), float(s.weight_decay))
    if s.optimizer == 'sgd':
        same('nesterov', group['nesterov'], False)
    if s.optimizer == 'rmsprop':
        same('alpha', group['alpha'], 0.99)
    if s.optimizer in WITH_MOMENTUM:
        same('momentum', group['momentum'], float(s.momentum))
    moved, epochs = scheduler.create_scheduler_v2(made, **scheduler.scheduler_kwargs(config), updates_per_epoch=10)
    same('epochs', epochs, s.epochs)
    end = s.epochs * 10 - 1
    moved.step_update(end)
    factor = made.param_groups[-1]['lr'] / float(s.lr)
    near = {'constant': 1.0, 'step': 0.01 if s.epochs > 1 else 1.0, 'cosine': 0.5 * (1 + math.cos(math.pi * end / (end + 1)))}
    if s.warmup_epochs < s.epochs * 0.6 and s.epochs > 2 and abs(factor - near[s.schedule]) > 1e-3:
        raise Wrong(f'the learning rate ends at {factor} of its height, not at {near[s.schedule]}')
    return f'timm {version(timm)}'


def to_yaml(text):
    """A name as YAML can hold it: bytes that are not UTF-8 are replaced."""
    return os.fsencode(text).decode('utf-8', 'replace') if text else text


def ultralytics_expected(s):
    momentum = float(s.momentum) if s.optimizer in WITH_MOMENTUM else 0.9
    expected = {
        'task': 'classify', 'mode': 'train', 'pretrained': False, 'epochs': s.epochs, 'patience': s.early_stop_patience,
        'batch': s.batch_size, 'nbs': s.batch_size * s.accumulate, 'amp': s.amp, 'workers': s.workers, 'cache': s.cache,
        'warmup_epochs': float(s.warmup_epochs), 'warmup_bias_lr': 0.0,
        'momentum': momentum, 'warmup_momentum': momentum,
        'weight_decay': float(s.weight_decay), 'fliplr': 0.5 if s.augment_flip else 0.0, 'flipud': 0.5 if s.augment_flip_vertical else 0.0,
        'scale': 1 - s.augment_crop if s.augment_crop else 0.0, 'hsv_h': float(s.augment_hue),
        'hsv_s': float(s.augment_saturation) if s.augment_saturation <= 1 else 0.0,
        'hsv_v': float(s.augment_brightness) if s.augment_brightness == s.augment_contrast else 0.0,
        'erasing': float(s.augment_erase), 'auto_augment': None, 'dropout': 0.0,
        'deterministic': s.deterministic, 'seed': s.seed32,
    }
    if s.optimizer != 'lion':  # the program has no Lion
        expected['optimizer'] = {**TORCH_OPTIMIZERS, 'rmsprop': 'RMSProp'}[s.optimizer]
    if s.lr <= 1 and s.optimizer != 'lion':
        expected['lr0'] = float(s.lr)
    if s.schedule != 'step':
        expected.update(cos_lr=s.schedule == 'cosine', lrf=0.0 if s.schedule == 'cosine' else 1.0)
    if s.path:
        expected['data'] = to_yaml(s.path)
    if s.known or s.image_size:
        expected['imgsz'] = s.size if s.known else s.image_size
    return expected


def check_ultralytics(path, s):
    expected = ultralytics_expected(s)
    same_all(read_yaml(path), expected)
    ultralytics = find_module('ultralytics')
    if not ultralytics:
        return 'ultralytics is missing'
    read = find_module('yaml').safe_load(open(path, encoding='utf-8'))
    config = importlib.import_module('ultralytics.cfg').get_cfg(overrides=read)
    for key, value in expected.items():
        same(key, getattr(config, key), value)
    return f'ultralytics {version(ultralytics)}'


def python_expected(s):
    return {
        'DATA': s.data, 'MODEL': s.model, 'EPOCHS': s.epochs, 'BATCH_SIZE': s.batch_size, 'ACCUMULATE': s.accumulate,
        'AMP': s.amp, 'WORKERS': s.workers, 'PREFETCH': s.prefetch, 'OPTIMIZER': s.optimizer, 'LR': float(s.lr),
        'MOMENTUM': float(s.momentum), 'WEIGHT_DECAY': float(s.weight_decay), 'WEIGHT_DECAY_NORMS': s.weight_decay_norms, 'SCHEDULE': s.schedule, 'SCHEDULE_EPOCHS': s.schedule_epochs,
        'WARMUP_EPOCHS': float(s.warmup_epochs), 'LABEL_SMOOTHING': float(s.label_smoothing),
        'CLIP_NORM': float(s.clip_norm), 'CLIP_VALUE': float(s.clip_value), 'AUGMENT_FLIP': s.augment_flip,
        'AUGMENT_BRIGHTNESS': float(s.augment_brightness), 'SHUFFLE': s.data_shuffle, 'VAL_SPLIT': float(s.data_val_split),
        'TEST_SPLIT': float(s.data_test_split),
        'VRAM_BUDGET': s.vram_budget, 'DETERMINISTIC': s.deterministic, 'N_OUTPUTS': s.classes if s.known else 10,
        'PREDICTS_VALUES': False, 'PREDICTS_LABELS': False, 'PREDICTS_PIXELS': False,
    }


def run_script(path, module):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, os.path.abspath(path), '--steps', '2'], cwd=folder, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise Wrong(f'it ends with {done.returncode}: {done.stderr.decode()[-2000:]}')
    if not re.search(r'loss:? ([0-9.]+)', done.stdout.decode()):
        raise Wrong(f'it tells no loss: {done.stdout.decode()[-500:]}')
    return f'run with {module.__name__} {version(module)}'


def check_float_weights(tree):
    """cross_entropy requires weights with the type of its input: whole numbers only would be
    int64."""
    made = [call for call in ast.walk(tree) if isinstance(call, ast.Call) and ast.unparse(call.func) == 'torch.tensor'
            and ast.unparse(call.args[0]) == 'CLASS_WEIGHTS']
    types = [ast.unparse(keyword.value) for call in made for keyword in call.keywords if keyword.arg == 'dtype']
    if types != ['torch.float32']:
        raise Wrong(f'the weights of classes are of type {types}')


def check_pytorch(path, s):
    constants, tree = read_python(path)
    check_float_weights(tree)
    size = s.size if s.known else s.image_size or 64
    same_all(constants, {**python_expected(s), 'SAMPLE_SHAPE': (3, size, size), 'PINNED': s.pinned, 'SEED': s.seed,
                         'PERSISTENT_WORKERS': s.persistent_workers, 'CHECKPOINTING': s.checkpointing,
                         'CUDNN_BENCHMARK': s.autotune and not s.deterministic, 'TF32': False, 'COMPILE': False, 'CLASS_WEIGHTS': s.class_weights(),
                         'FOCAL': float(s.loss_focal), 'DICE': float(s.loss_dice),
                         'AUGMENT_FLIP_VERTICAL': s.augment_flip_vertical, 'AUGMENT_PAD': s.augment_pad,
                         'AUGMENT_SHIFT': s.augment_shift, **{f'AUGMENT_{name.upper()}': float(getattr(s, f'augment_{name}')) for name in (
                             'crop', 'crop_ratio', 'rotate', 'contrast', 'saturation', 'hue', 'noise', 'erase', 'mixup', 'cutmix')}})
    torch = find_module('torch')
    return run_script(path, torch) if torch else 'torch is missing'


def check_tensorflow(path, s):
    constants, _tree = read_python(path)
    size = s.size if s.known else s.image_size or 64
    same_all(constants, {**python_expected(s), 'SAMPLE_SHAPE': (size, size, 3), 'CACHE': s.cache, 'SEED': s.seed32})
    tensorflow = find_module('tensorflow')
    return run_script(path, tensorflow) if tensorflow else 'tensorflow is missing'


def reference_flags(s):
    flags = ['train.py', '--data-path=' + (s.path or 'data'), '--model=' + REFERENCE_MODELS[s.model], '--epochs', str(s.epochs),
             '--batch-size', str(s.batch_size), '--workers', str(s.workers)]
    flags += ['--amp'] if s.amp else []
    flags += ['--use-deterministic-algorithms'] if s.deterministic else []
    if s.known or s.image_size:
        for name in ('train-crop', 'val-crop', 'val-resize'):
            flags += [f'--{name}-size', str(s.size if s.known else s.image_size)]
    flags += ['--opt', s.optimizer, '--lr', s.lr, '--momentum', s.momentum, '--weight-decay', s.weight_decay,
              '--label-smoothing', s.label_smoothing]
    if not s.weight_decay_norms:  # they precede --label-smoothing
        flags[-2:-2] = ['--norm-weight-decay', 0, '--bias-weight-decay', 0, '--transformer-embedding-decay', 0]
    flags += ['--clip-grad-norm', s.clip_norm] if s.clip_norm else []
    for name, value in (('--mixup-alpha', s.augment_mixup), ('--cutmix-alpha', s.augment_cutmix), ('--random-erase', s.augment_erase)):
        flags += [name, value] if value else []
    if s.schedule == 'cosine':
        flags += ['--lr-scheduler', 'cosineannealinglr']
    else:
        step = s.schedule == 'step'
        flags += ['--lr-scheduler', 'steplr', '--lr-step-size', str(math.ceil(s.epochs / 3) if step else s.epochs),
                  '--lr-gamma', 0.1 if step else 1]
    if s.warmup_epochs == int(s.warmup_epochs):
        flags += ['--lr-warmup-epochs', str(int(s.warmup_epochs)), '--lr-warmup-method', 'linear']
    return flags


def check_words(got, expected):
    same('number of words', len(got), len(expected))
    for word, value in zip(got, expected):
        same('a word', float(word) if isinstance(value, (int, float)) else word,
             float(value) if isinstance(value, (int, float)) else value)


def check_own_script(path, s, start):
    """The job runs exactly the script that the PyTorch exporter writes."""
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, 'script.py')
        words = run_shell(path, [], {}, script)
        check_words(words[:-1], ['1', *start, '--nproc-per-node=1'])
        with open(script, 'rb') as got, open(os.path.join(os.path.dirname(path), 'train.py'), 'rb') as expected:
            if got.read() != expected.read():
                raise Wrong('it runs another script than the PyTorch exporter writes')


def check_launch(path, s, gpus):
    start = ['--standalone', '--nnodes=1']
    if s.model in REFERENCE_MODELS and s.optimizer in ('sgd', 'adamw'):
        check_words(run_shell(path, [], {}), ['1', *start, '--nproc-per-node=1', *reference_flags(s)])
    else:
        check_own_script(path, s, start)
    own = ['my train.py', "it's", '', '-x']
    check_words(run_shell(path, own, {gpus: '4', 'OMP_NUM_THREADS': '7'}), ['7', *start, '--nproc-per-node=4', *own])
    if not shutil.which('shellcheck'):
        return 'shellcheck is missing'
    done = subprocess.run(['shellcheck', '--severity=warning', path], check=False, stdout=subprocess.PIPE)
    if done.returncode != 0:
        raise Wrong(done.stdout.decode())
    return 'bash, shellcheck'


def check_torchrun(path, s):
    return check_launch(path, s, 'GPUS')


def check_slurm(path, s):
    with open(path, encoding='utf-8') as file:
        lines = file.read().splitlines()
    same('the first line', lines[0], '#!/bin/bash')
    # sbatch stops reading options at the first line that is no comment.
    last = max(i for i, line in enumerate(lines) if line.startswith('#SBATCH'))
    if any(not line.startswith('#') for line in lines[:last]):
        raise Wrong('a line for sbatch stands after a command')
    options = dict(line[len('#SBATCH --'):].split('=', 1) for line in lines if line.startswith('#SBATCH'))
    same('cpus-per-task', options['cpus-per-task'], str(s.workers + 1))
    if not re.fullmatch(r'dyno-[\w-]+', options['job-name'], re.A):
        raise Wrong(f'the name of the job is {options["job-name"]}')
    return check_launch(path, s, 'SLURM_GPUS_ON_NODE')


FORMATS = (
    ('pytorch', 'train.py', check_pytorch), ('lightning', 'lightning.yaml', check_lightning),
    ('accelerate', 'accelerate.yaml', check_accelerate),
    ('trainingarguments', 'training_args.json', check_trainingarguments), ('timm', 'args.yaml', check_timm),
    ('ultralytics', 'ultralytics.yaml', check_ultralytics), ('deepspeed', 'ds_config.json', check_deepspeed),
    ('tensorflow', 'train_tf.py', check_tensorflow), ('torchrun', 'torchrun.sh', check_torchrun),
    ('slurm', 'slurm.sh', check_slurm),
)


def check(folder, say=print):
    """Returns TRUE if every file has the values of settings.json."""
    settings, good = Settings(folder), True
    for name, file, function in FORMATS:
        path = os.path.join(folder, file)
        try:
            if not os.path.exists(path):
                raise Wrong(f'there is no {file}')
            say(f'{name}: equal; {function(path, settings)}')
        except Exception as error:  # any error of a program on its file
            if is_missing(error):
                say(f'{name}: equal; missing: {error}')
                continue
            good = False
            say(f'{name}: WRONG: {type(error).__name__}: {error}')
    return good


def main():
    good = True
    for folder in sys.argv[1:] or ['.']:
        inner = sorted(entry.path for entry in os.scandir(folder) if entry.is_dir()) or [folder]
        for one in inner:
            print(f'{one}:')
            good &= check(one, lambda line: print('  ' + line, flush=True))
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
