

def make_sample(index):
    """Noise of the shape above, which stands for DATA: replace this by your samples."""
    seed = tf.stack([tf.constant(SEED, tf.int64), index])
    sample = tf.random.stateless_uniform(SAMPLE_SHAPE, seed)
    if PREDICTS_VALUES:
        return sample, tf.random.stateless_uniform([N_OUTPUTS], seed)
    if PREDICTS_LABELS:  # 1 or 0 for each label, or NaN where it is not known
        return sample, tf.cast(tf.random.stateless_uniform([N_OUTPUTS], seed, 0, 2, tf.int64), tf.float32)
    if PREDICTS_PIXELS:
        return sample, tf.one_hot(tf.random.stateless_uniform(SAMPLE_SHAPE[:2], seed, 0, N_OUTPUTS, tf.int64), N_OUTPUTS)
    return sample, tf.one_hot(tf.random.stateless_uniform([], seed, 0, N_OUTPUTS, tf.int64), N_OUTPUTS)


def label_loss(targets, logits):
    """The binary cross entropy over the labels, BinaryCrossentropy(from_logits=True) of those that are known."""
    known = tf.math.logical_not(tf.math.is_nan(targets))
    smooth = tf.where(known, targets, 0.0) * (1 - LABEL_SMOOTHING) + LABEL_SMOOTHING / 2
    losses = tf.nn.sigmoid_cross_entropy_with_logits(smooth, tf.cast(logits, tf.float32))
    return tf.reduce_mean(tf.where(known, losses, 0.0), axis=-1)


def label_accuracy(targets, logits):
    """The share of the known labels that a threshold of 0.5 gets right."""
    known = tf.cast(tf.math.logical_not(tf.math.is_nan(targets)), tf.float32)
    right = tf.cast(tf.equal(tf.sigmoid(logits) >= 0.5, targets >= 0.5), tf.float32)
    return tf.math.divide_no_nan(tf.reduce_sum(right * known, axis=-1), tf.reduce_sum(known, axis=-1))


def augment(sample, target):
    """Random changes of images with values from 0 to 1, before they are normalised."""
    if len(SAMPLE_SHAPE) == 3 and AUGMENT_FLIP:
        mirror = tf.random.uniform([]) < 0.5
        sample = tf.cond(mirror, lambda: tf.reverse(sample, [1]), lambda: sample)
        if PREDICTS_PIXELS:  # a mask moves with its image
            target = tf.cond(mirror, lambda: tf.reverse(target, [1]), lambda: target)
    if len(SAMPLE_SHAPE) == 3 and AUGMENT_BRIGHTNESS > 0:
        factor = tf.random.uniform([], 1 - AUGMENT_BRIGHTNESS, 1 + AUGMENT_BRIGHTNESS)
        sample = tf.minimum(sample * tf.maximum(factor, 0), 1)
    return sample, target


def make_dataset(first, count, training):
    dataset = tf.data.Dataset.range(first, first + count)
    dataset = dataset.map(make_sample, num_parallel_calls=WORKERS or None)
    if CACHE:
        dataset = dataset.cache()
    if training and SHUFFLE:
        dataset = dataset.shuffle(count, seed=SEED)
    if training:
        dataset = dataset.map(augment, num_parallel_calls=WORKERS or None)
    dataset = dataset.batch(BATCH_SIZE, drop_remainder=training).prefetch(PREFETCH)
    threads = tf.data.Options()
    threads.threading.private_threadpool_size = max(WORKERS, 1)
    return dataset.with_options(threads)


def make_model():
    """Replace this by your network: tf.keras.applications has some."""
    layers = [tf.keras.layers.Input(SAMPLE_SHAPE)]
    if PREDICTS_PIXELS:
        return tf.keras.Sequential(layers + [tf.keras.layers.Conv2D(16, 3, padding='same', activation='relu'),
                                             tf.keras.layers.Conv2D(N_OUTPUTS, 1, dtype='float32')])
    if len(SAMPLE_SHAPE) == 3:
        layers += [tf.keras.layers.Conv2D(16, 3, strides=2, padding='same', activation='relu'),
                   tf.keras.layers.Conv2D(32, 3, strides=2, padding='same', activation='relu'),
                   tf.keras.layers.GlobalAveragePooling2D()]
    else:
        layers += [tf.keras.layers.Flatten(), tf.keras.layers.Dense(32, activation='relu')]
    return tf.keras.Sequential(layers + [tf.keras.layers.Dense(N_OUTPUTS, dtype='float32')])


def make_decaying_optimizer():
    options = {'learning_rate': LR, 'weight_decay': WEIGHT_DECAY or None, 'global_clipnorm': CLIP_NORM or None}
    if CLIP_VALUE > 0 and not CLIP_NORM:  # Keras clips in one of the two ways only
        options['clipvalue'] = CLIP_VALUE
    if ACCUMULATE > 1:  # needs Keras 3
        options['gradient_accumulation_steps'] = ACCUMULATE
    if OPTIMIZER == 'adamw':
        return tf.keras.optimizers.AdamW(beta_1=0.9, beta_2=0.999, epsilon=1e-8, **options)
    if OPTIMIZER == 'adam':
        return tf.keras.optimizers.Adam(beta_1=0.9, beta_2=0.999, epsilon=1e-8, **options)
    if OPTIMIZER == 'rmsprop':  # Keras adds epsilon under the square root
        return tf.keras.optimizers.RMSprop(rho=0.99, momentum=MOMENTUM, epsilon=1e-16, **options)
    if OPTIMIZER == 'lion':
        return tf.keras.optimizers.Lion(beta_1=0.9, beta_2=0.99, **options)
    return tf.keras.optimizers.SGD(momentum=MOMENTUM, **options)


def make_optimizer():
    optimizer = make_decaying_optimizer()
    if not WEIGHT_DECAY_NORMS:
        optimizer.exclude_from_weight_decay(var_names=['bias', 'gamma', 'beta'])
    return optimizer


class Schedule(tf.keras.callbacks.Callback):
    def __init__(self, steps_per_epoch):
        super().__init__()
        self.steps_per_epoch, self.batches = steps_per_epoch, 0

    def on_train_batch_begin(self, batch, logs=None):
        self.model.optimizer.learning_rate = learning_rate(self.batches // ACCUMULATE, self.steps_per_epoch)
        self.batches += 1


def prepare():
    gpus = tf.config.list_physical_devices('GPU')
    tf.keras.utils.set_random_seed(SEED)
    if DETERMINISTIC:
        tf.config.experimental.enable_op_determinism()
    for gpu in gpus:
        if VRAM_BUDGET > 0:
            limit = tf.config.LogicalDeviceConfiguration(memory_limit=VRAM_BUDGET >> 20)
            tf.config.set_logical_device_configuration(gpu, [limit])
        else:
            tf.config.experimental.set_memory_growth(gpu, True)
    if gpus:
        tf.config.optimizer.set_jit(True)
    if gpus and AMP:
        tf.keras.mixed_precision.set_global_policy('mixed_float16')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--steps', type=int, default=0, help='stop after this number of updates')
    parser.add_argument('--save', help='file for the model, .keras')
    options = parser.parse_args()
    prepare()
    steps_per_epoch = min(2, options.steps or 2)
    n_training = BATCH_SIZE * ACCUMULATE * steps_per_epoch
    n_validation = int(n_training * VAL_SPLIT / (1 - VAL_SPLIT))
    n_test = int((n_training + n_validation) * TEST_SPLIT / (1 - TEST_SPLIT))
    if PREDICTS_VALUES:
        loss, metrics = 'mse', []
    elif PREDICTS_LABELS:
        loss, metrics = label_loss, [label_accuracy]
    else:
        loss = tf.keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=LABEL_SMOOTHING)
        metrics = ['accuracy']
    model = make_model()
    model.compile(make_optimizer(), loss, metrics=metrics)
    model.fit(make_dataset(0, n_training, True), epochs=EPOCHS if not options.steps else 1, verbose=2,
              validation_data=make_dataset(n_training, n_validation, False) if n_validation else None,
              callbacks=[Schedule(steps_per_epoch)])
    if n_test:  # of the last weights, which are the ones that this script has
        print('test', model.evaluate(make_dataset(n_training + n_validation, n_test, False), verbose=0, return_dict=True))
    if options.save:
        model.save(options.save)


if __name__ == '__main__':
    main()
